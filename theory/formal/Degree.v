(* The degree of linearised attention, as a polynomial in the entries of the tokens: 3^L, of which
   an even part falls to each token other than the one that is read; with residual connections all
   odd degrees up to 3^L may occur; and the degree (3^L - 1)/2 in the second moments.

   The objects stand in LinearAttention.v. The variables are the n * d entries of the tokens. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify.
From mathcomp Require Import mpoly freeg.
From Depthlaw Require Import AlmostAll LinearAttention.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* --- the objects ------------------------------------------------------------------------------ *)

Section Objects.
Variables (R : comRingType) (d a n : nat).

(* Entry p of token j is the variable of number mxvec_index j p. *)
Definition generic_tokens (j : 'I_n) : 'cV[{mpoly R[n * d]}]_d := \col_p 'X_(mxvec_index j p).

(* Coordinate p of the output at position i, a polynomial in the entries of the tokens. *)
Definition output_poly residual (layers : seq (seq (head R d a))) (i : 'I_n) (p : 'I_d) :
    {mpoly R[n * d]} :=
  net residual (net_map (@mpolyC _ R : {rmorphism _ -> _}) layers) generic_tokens i p 0.

(* The degree of a monomial in the entries of token j, and in the tokens of a side A. *)
Definition token_degree (j : 'I_n) (m : 'X_{1..n * d}) : nat := (\sum_p m (mxvec_index j p))%N.
Definition side_degree (A : {set 'I_n}) (m : 'X_{1..n * d}) : nat :=
  (\sum_(j in A) token_degree j m)%N.

(* The degree in the second moments. *)
Definition moment_degree (L : nat) : nat := ((3 ^ L).-1)./2.

End Objects.

(* The value of the polynomial at tokens x over any algebra is the output at tokens x. *)
Lemma output_poly_mmap (R S : comRingType) (f : {rmorphism R -> S}) d a n residual
    (layers : seq (seq (head R d a))) (x : 'I_n -> 'cV[S]_d) i p :
  mmap f (mxvec (\matrix_(j, q) x j q 0) 0) (output_poly residual layers i p) =
  net residual (net_map f layers) x i p 0.
Proof.
rewrite /output_poly; set v := mxvec _ 0.
have := net_image (mmap f v : {rmorphism _ -> _}) residual
  (net_map (@mpolyC (n * d) R : {rmorphism _ -> _}) layers) (@generic_tokens R d n) i.
move=> /matrixP/(_ p 0); rewrite mxE => /= ->.
have -> : net_map (mmap f v : {rmorphism _ -> _}) (net_map (@mpolyC (n * d) R : {rmorphism _ -> _}) layers) =
  net_map f layers.
  rewrite /net_map -map_comp; apply: eq_map => heads /=.
  rewrite -map_comp; apply: eq_map => -[q k w o] /=; rewrite /head_map /=.
  by congr Head; apply/matrixP => s t; rewrite !mxE /= mmapC.
suff /eq_net -> : (fun j => map_mx (mmap f v) (generic_tokens R d j)) =1 x by [].
move=> j; apply/matrixP => q s; rewrite !mxE mmapX mmap1U /v ord1.
by rewrite mxvecE mxE.
Qed.

(* The polynomial of the output, at the entries of the tokens, is the output. *)
Theorem output_poly_value (R : comRingType) d a n residual (layers : seq (seq (head R d a)))
    (x : 'I_n -> 'cV[R]_d) i p :
  (output_poly residual layers i p).@[mxvec (\matrix_(j, q) x j q 0) 0] =
  net residual layers x i p 0.
Proof.
rewrite /meval (output_poly_mmap (idfun : {rmorphism _ -> _})).
suff -> : net_map (idfun : {rmorphism _ -> _}) layers = layers by [].
rewrite /net_map -[RHS]map_id; apply: eq_map => heads /=.
rewrite -[RHS]map_id; apply: eq_map => -[q k w o] /=; rewrite /head_map /=.
by congr Head; apply/matrixP => s t; rewrite !mxE.
Qed.

Lemma double_moment_degree L : (moment_degree L).*2.+1 = (3 ^ L)%N.
Proof.
rewrite /moment_degree; have := odd_double_half (3 ^ L).-1.
have o : odd (3 ^ L) by rewrite oddX orbT.
case: (3 ^ L)%N o => //= k; rewrite -/(odd k) => /negbTE -> ; by rewrite add0n => ->.
Qed.

Lemma moment_degreeS L : moment_degree L.+1 = (3 * moment_degree L).+1.
Proof.
have := double_moment_degree L.+1; rewrite expnS -(double_moment_degree L); lia.
Qed.

(* --- supports --------------------------------------------------------------------------------- *)

Section Supports.
Variables (R : comRingType) (N : nat).
Implicit Types (S T U : pred 'X_{1..N}) (p q : {mpoly R[N]}).

(* All monomials of p lie in S. *)
Definition within S p := all S (msupp p).

Lemma within0 S : within S 0.
Proof. by rewrite /within msupp0. Qed.

Lemma withinD S p q : within S p -> within S q -> within S (p + q).
Proof.
move=> /allP Sp /allP Sq; apply/allP => m /msuppD_le; rewrite mem_cat => /orP[/Sp|/Sq] //.
Qed.

Lemma withinM S T U p q : (forall m k, S m -> T k -> U (m + k)%MM) ->
  within S p -> within T q -> within U (p * q).
Proof.
move=> H /allP Sp /allP Tq; apply/allP => m /msuppM_le /allpairsP[[u v] /= [up vq ->]].
by apply: (H _ _ (Sp _ up) (Tq _ vq)).
Qed.

Lemma within_sum (I : Type) (r : seq I) (P : pred I) S (F : I -> {mpoly R[N]}) :
  (forall i, P i -> within S (F i)) -> within S (\sum_(i <- r | P i) F i).
Proof. by move=> H; elim/big_ind: _ => [|p q|i] *; [exact: within0|exact: withinD|exact: H]. Qed.

Lemma withinC S c p : within S p -> within S (c%:MP * p).
Proof.
move=> /allP Sp; apply/allP => m; rewrite mul_mpolyC => /msuppZ_le; exact: Sp.
Qed.

Lemma within_sub S T p : subpred S T -> within S p -> within T p.
Proof. by move=> ST /allP Sp; apply/allP => m /Sp /ST. Qed.

(* Vectors of polynomials. *)
Definition vwithin S d (v : 'cV[{mpoly R[N]}]_d) := forall k : 'I_d, within S (v k 0).

Lemma vwithin_weights S d e (W : 'M[R]_(e, d)) v :
  vwithin S v -> vwithin S (map_mx (@mpolyC _ R : {rmorphism _ -> _}) W *m v).
Proof.
by move=> Sv k; rewrite !mxE; apply: within_sum => l _; rewrite !mxE; apply: withinC; apply: Sv.
Qed.

(* One layer: outputs gather products of one entry at i and two at j. *)
Lemma layer_within (residual : bool) d a n (heads : seq (head R d a))
    (y : 'I_n -> 'cV[{mpoly R[N]}]_d) (S : 'I_n -> pred 'X_{1..N}) (U : pred 'X_{1..N}) i :
  (forall j, vwithin (S j) (y j)) ->
  (forall j u v w, S i u -> S j v -> S j w -> U (u + v + w)%MM) ->
  (residual -> subpred (S i) U) ->
  vwithin U (layer residual (map (head_map (@mpolyC _ R : {rmorphism _ -> _})) heads) y i).
Proof.
move=> Sy HU HR p; rewrite /layer mxE; apply: withinD.
  case: residual HR => [HR|_]; last by rewrite mxE within0.
  exact: within_sub (HR isT) (Sy i p).
rewrite big_map summxE; apply: within_sum => w _.
apply: vwithin_weights => {p} p; rewrite summxE; apply: within_sum => j _.
rewrite mxE.
have Sij : forall k, within (S i) ((map_mx (@mpolyC _ R : {rmorphism _ -> _}) (query w) *m y i) k 0).
  exact: vwithin_weights.
have Sk : forall k, within (S j) ((map_mx (@mpolyC _ R : {rmorphism _ -> _}) (key w) *m y j) k 0).
  exact: vwithin_weights.
have Sv : within (S j) ((map_mx (@mpolyC _ R : {rmorphism _ -> _}) (value w) *m y j) p 0).
  exact: vwithin_weights.
rewrite /dot mulr_suml; apply: within_sum => k _.
move: (Sij k) (Sk k) Sv => /= /allP Hq /allP Hk /allP Hv; apply/allP => m.
move=> /msuppM_le /allpairsP[[u v] /= [/msuppM_le /allpairsP[[u1 u2] /= [u1q u2k ->]] vv ->]].
exact: (HU j _ _ _ (Hq _ u1q) (Hk _ u2k) (Hv _ vv)).
Qed.

End Supports.

Lemma mxvec_index_eq n d (j k : 'I_n) (p q : 'I_d) :
  (mxvec_index j p == mxvec_index k q) = (j == k) && (p == q).
Proof. by rewrite /mxvec_index (inj_eq (@cast_ord_inj _ _ _)) (inj_eq enum_rank_inj) xpair_eqE. Qed.

Lemma token_degree1 n d (j k : 'I_n) (q : 'I_d) :
  token_degree j U_(mxvec_index k q)%MM = (k == j).
Proof.
rewrite /token_degree (bigD1 q) //= big1 ?addn0 => [|p pq]; rewrite mnm1E mxvec_index_eq.
  by rewrite eqxx andbT.
by rewrite [q == p]eq_sym (negbTE pq) andbF.
Qed.

(* --- degree and parity ------------------------------------------------------------------------ *)

Section Degree.
Variables (R : comRingType) (d a n : nat).
Implicit Types (layers : seq (seq (head R d a))) (A : {set 'I_n}) (m : 'X_{1..n * d}).
Local Notation inR := (@mpolyC (n * d) R : {rmorphism _ -> _}).

Lemma net_degree layers (y : 'I_n -> 'cV[{mpoly R[n * d]}]_d) (c : nat) i :
  (forall j, vwithin [pred m | mdeg m == c] (y j)) ->
  vwithin [pred m | mdeg m == (c * 3 ^ size layers)%N] (net false (net_map inR layers) y i).
Proof.
elim: layers y c i => [|heads rest IH] y c i Hy /=; first by rewrite expn0 muln1; apply: Hy.
rewrite expnS mulnA [(c * 3)%N]mulnC; apply: IH => j.
apply: layer_within (fun j => [pred m | mdeg m == c]) _ _ Hy _ _ => // k u v w.
by rewrite /= => /eqP uc /eqP vc /eqP wc; rewrite !mdegD uc vc wc; apply/eqP; lia.
Qed.

(* Claim: separation_rank/degree, its upper half.
   Without residual connections every output coordinate is a form of degree 3^L in the entries of
   the tokens (or zero). For all weights, widths, heads, tokens and depths L. *)
Theorem degree_homogeneous layers i p :
  output_poly (n := n) false layers i p \is (3 ^ size layers).-homog.
Proof.
rewrite dhomogE -[(3 ^ _)%N]mul1n; apply: net_degree => j q.
by rewrite mxE /within msuppX /= mdeg1 eqxx.
Qed.

(* With residual connections only odd degrees up to 3^L occur. *)
Theorem degree_residual residual layers i p m :
  m \in msupp (output_poly (n := n) residual layers i p) ->
  odd (mdeg m) /\ (mdeg m <= 3 ^ size layers)%N.
Proof.
have H (l : seq (seq (head R d a))) (y : 'I_n -> 'cV[{mpoly R[n * d]}]_d) (c : nat) j :
    (forall k, vwithin [pred m | odd (mdeg m) && (mdeg m <= c)%N] (y k)) ->
    vwithin [pred m | odd (mdeg m) && (mdeg m <= c * 3 ^ size l)%N]
      (net residual (net_map inR l) y j).
  elim: l y c j => [|heads rest IH] y c j Hy /=; first by rewrite expn0 muln1; apply: Hy.
  rewrite expnS mulnA [(c * 3)%N]mulnC; apply: IH => k.
  apply: layer_within (fun j => [pred m | odd (mdeg m) && (mdeg m <= c)%N]) _ _ Hy _ _.
    move=> l u v w /= /andP[ou uc] /andP[ov vc] /andP[ow wc].
    by rewrite !mdegD !oddD ou ov ow /=; lia.
  by move=> _ u /= /andP[-> uc]; lia.
move=> mo; have := H layers (@generic_tokens R d n) 1%N i _ p.
rewrite mul1n => /(_ _)/allP/(_ m mo) /= H'; apply/andP/H' => j q.
by rewrite mxE /within msuppX /= mdeg1.
Qed.

(* The output at position i is odd in token i and even in every other token. *)
Theorem token_parity residual layers i p m :
  m \in msupp (output_poly (n := n) residual layers i p) ->
  forall j, odd (token_degree j m) = (j == i).
Proof.
move=> mo j; have tdD u v : token_degree j (u + v)%MM = (token_degree j u + token_degree j v)%N.
  by rewrite /token_degree -big_split; apply: eq_bigr => q _; rewrite mnmDE.
have H (l : seq (seq (head R d a))) (y : 'I_n -> 'cV[{mpoly R[n * d]}]_d) k :
    (forall k, vwithin [pred m | odd (token_degree j m) == (j == k)] (y k)) ->
    vwithin [pred m | odd (token_degree j m) == (j == k)] (net residual (net_map inR l) y k).
  elim: l y k => [|heads rest IH] y k Hy; first exact: Hy.
  apply: IH => s.
  apply: layer_within (fun k => [pred m | odd (token_degree j m) == (j == k)]) _ _ Hy _ _.
    move=> t u v w /= /eqP ou /eqP ov /eqP ow.
    by rewrite !tdD !oddD ou ov ow; do 2!case: (j == _).
  by move=> _ u.
have /allP/(_ m mo)/eqP // : within [pred m | odd (token_degree j m) == (j == i)]
  (output_poly residual layers i p).
apply: H => k q; rewrite mxE /within msuppX /= andbT token_degree1 oddb.
by rewrite [k == j]eq_sym.
Qed.

(* The degrees in the two sides of the tokens add up to the degree. *)
Lemma side_degreeC A m : (side_degree A m + side_degree (~: A) m)%N = mdeg m.
Proof.
have -> : mdeg m = (\sum_j token_degree j m)%N.
  rewrite mdegE (reindex _ (curry_mxvec_bij _ _)) /= /token_degree pair_bigA /=.
  by apply: eq_bigr => -[].
rewrite /side_degree [RHS](bigID (mem A)) /=; congr (_ + _)%N.
by apply: eq_bigl => j; rewrite inE.
Qed.

(* Claim: separation_rank/two_tokens_upper, its parts by bidegree, here for any two sides.
   In the tokens of the side that holds the position that is read and in those of the other side,
   the output has bidegrees (3^L - 2k, 2k) with 0 <= k <= (3^L - 1)/2 only. *)
Theorem bidegree layers i p m A : i \in A ->
  m \in msupp (output_poly (n := n) false layers i p) ->
  exists2 k : nat, (k <= moment_degree (size layers))%N &
    side_degree A m = (3 ^ size layers - k.*2)%N /\ side_degree (~: A) m = k.*2.
Proof.
move=> iA mo; have even_side : ~~ odd (side_degree (~: A) m).
  rewrite /side_degree; elim/big_ind: _ => // [u v|j].
    by rewrite oddD => /negbTE-> /negbTE->.
  rewrite inE => jA; rewrite (token_parity mo); apply: contra jA => /eqP-> //.
have := side_degreeC A m; have /allP/(_ m mo)/eqP /= -> := degree_homogeneous layers i p.
have := odd_double_half (side_degree (~: A) m); rewrite (negbTE even_side) add0n => e.
rewrite -{1}e => t; exists (side_degree (~: A) m)./2; last by split=> //; lia.
have := double_moment_degree (size layers); lia.
Qed.

End Degree.

(* --- nets that attain the degree -------------------------------------------------------------- *)

(* All weights of L layers of H heads of width a, by name: layer, head, matrix, row, column, where
   matrix 0, 1, 2, 3 is query, key, value, and the transpose of output. *)
Section Names.
Variables (L H a d : nat).
Definition weight_name := (('I_L * 'I_H * 'I_4 * 'I_a * 'I_d)%type : finType).

Definition layer_of (R : comRingType) (w : weight_name -> R) (l : 'I_L) : seq (head R d a) :=
  [seq Head (\matrix_(k, q) w (l, h, inord 0, k, q)) (\matrix_(k, q) w (l, h, inord 1, k, q))
            (\matrix_(k, q) w (l, h, inord 2, k, q)) (\matrix_(q, k) w (l, h, inord 3, k, q))
  | h <- enum 'I_H].

Definition net_of (R : comRingType) (w : weight_name -> R) := map (layer_of w) (enum 'I_L).

Lemma size_net_of (R : comRingType) (w : weight_name -> R) : size (net_of w) = L.
Proof. by rewrite size_map size_enum_ord. Qed.

Lemma net_of_map (R S : comRingType) (f : {rmorphism R -> S}) (w : weight_name -> R) :
  net_map f (net_of w) = net_of (fun t => f (w t)).
Proof.
rewrite /net_map -map_comp; apply: eq_map => l /=; rewrite -map_comp; apply: eq_map => h /=.
by rewrite /head_map /=; congr Head; apply/matrixP => s t; rewrite !mxE.
Qed.

Lemma eq_net_of (R : comRingType) (v w : weight_name -> R) : v =1 w -> net_of v = net_of w.
Proof.
move=> vw; apply: eq_map => l; apply: eq_map => h.
by congr Head; apply/matrixP => s t; rewrite !mxE vw.
Qed.

(* The witness: one head in each layer reads coordinate p0 and writes it everywhere. *)
Definition witness (h0 : 'I_H) (a0 : 'I_a) (p0 : 'I_d) (R : comRingType) (t : weight_name) : R :=
  let: (l, h, s, k, q) := t in
  ((h == h0) && (k == a0) && ((s == inord 3) || (q == p0)))%:R.

End Names.

Section Witness.
Variables (R : comRingType) (L H a d n : nat) (h0 : 'I_H) (a0 : 'I_a) (p0 : 'I_d).
Local Notation w := (witness (L := L) h0 a0 p0 R).

Definition const_tokens (c : 'I_n -> R) (j : 'I_n) : 'cV[R]_d := const_mx (c j).

Lemma witness_layer residual l (c : 'I_n -> R) i :
  layer residual (layer_of w l) (const_tokens c) i =
  const_mx ((if residual then c i else 0) + c i * \sum_j c j ^+ 2).
Proof.
have n3 (t : 'I_4) : (t < 3)%N -> (t == inord 3) = false.
  by move=> t3; apply/negbTE/eqP => /(congr1 val) /=; rewrite inordK // => e; rewrite e in t3.
pose e : 'cV[R]_a := \col_k (k == a0)%:R.
have read (h : 'I_H) (t : 'I_4) (x : R) : (t < 3)%N ->
    (\matrix_(k, q) w (l, h, t, k, q)) *m (const_mx x : 'cV[R]_d) = ((h == h0)%:R * x) *: e.
  move=> t3; apply/matrixP => k u; rewrite !mxE (bigD1 p0) //= big1 => [|v vp]; rewrite !mxE n3 //.
    by rewrite eqxx andbT addr0 -mulnb natrM mulrAC.
  by rewrite (negbTE vp) andbF mul0r.
have write (h : 'I_H) : (\matrix_(q, k) w (l, h, inord 3, k, q)) *m e =
    const_mx (h == h0)%:R :> 'cV[R]_d.
  apply/matrixP => q u; rewrite !mxE (bigD1 a0) //= big1 => [|k ka]; rewrite !mxE.
    by rewrite !eqxx /= !andbT mulr1 addr0.
  by rewrite (negbTE ka) mulr0.
have dot_e (x y : R) : dot (x *: e) (y *: e) = x * y.
  rewrite /dot (bigD1 a0) //= big1 => [|k ka]; rewrite !mxE.
    by rewrite eqxx !mulr1 addr0.
  by rewrite (negbTE ka) !mulr0.
rewrite /layer big_map big_enum (bigD1 h0) //= big1 => [|h /negbTE hh]; last first.
  rewrite /attend /= big1 ?mulmx0 // => j _.
  by rewrite !read ?inordK // dot_e hh !mul0r scale0r.
rewrite addr0 /attend /=.
have -> : const_mx ((if residual then c i else 0) + c i * \sum_j c j ^+ 2) =
  (if residual then const_tokens c i else 0) + const_mx (c i * \sum_j c j ^+ 2).
  by apply/matrixP => q s; rewrite !mxE; case: residual; rewrite !mxE.
congr (_ + _); rewrite mulmx_sumr mulr_sumr.
rewrite (eq_bigr (fun j => const_mx (c i * c j ^+ 2))) => [|j _].
  by apply/matrixP => q s; rewrite summxE !mxE; apply: eq_bigr => j _; rewrite mxE.
rewrite !read ?inordK // dot_e -!scalemxAr write !eqxx.
by apply/matrixP => q s; rewrite !mxE !mul1r mulr1 expr2 mulrA.
Qed.

(* The output of the witness without residual connections, at tokens with equal coordinates. *)
Lemma witness_value (c : 'I_n -> R) i :
  net false (net_of w) (const_tokens c) i =
  const_mx (c i * (\sum_j c j ^+ 2) ^+ moment_degree L).
Proof.
rewrite /net_of -[X in moment_degree X](size_enum_ord L).
elim: (enum 'I_L) c => [|l rest IH] c /=; first by rewrite expr0 mulr1.
rewrite (eq_net _ _ (z := const_tokens (fun j => c j * \sum_k c k ^+ 2))); last first.
  by move=> j; rewrite witness_layer add0r.
rewrite IH.
set S := \sum_k c k ^+ 2; have -> : \sum_j (c j * S) ^+ 2 = S ^+ 3.
  by rewrite (eq_bigr (fun j => c j ^+ 2 * S ^+ 2)) => [|j _];
    rewrite ?exprMn // -mulr_suml -exprS.
rewrite -exprM -mulrA -exprS.
by rewrite moment_degreeS.
Qed.

End Witness.

(* Claim: separation_rank/degree, its lower half, for one net.
   For every width, number of heads, tokens and depth, over every ring, there are weights for which
   an output coordinate is not zero; so its degree is 3^L exactly. *)
Section Attained.
Variables (R : comRingType) (L H a d n : nat) (h0 : 'I_H) (a0 : 'I_a) (p0 : 'I_d).
Variables (i : 'I_n) (p : 'I_d).

Lemma homog_msize N (q : {mpoly R[N]}) k : q != 0 -> q \is k.-homog -> msize q = k.+1.
Proof.
move=> q0; rewrite dhomogE => /allP/(_ _ (mlead_supp q0))/eqP /= <-.
by rewrite mlead_deg.
Qed.

Lemma nonzero_msize (w : weight_name L H a d -> R) :
  output_poly false (net_of w) i p != 0 ->
  msize (output_poly false (net_of w) i p) = (3 ^ L).+1.
Proof.
move=> nz; rewrite (homog_msize nz (degree_homogeneous _ _ _)).
by rewrite size_net_of.
Qed.

Definition one_token (j : 'I_n) : R := (j == i)%:R.

Lemma one_token_square : \sum_j one_token j ^+ 2 = 1.
Proof.
rewrite (bigD1 i) //= big1 /one_token ?eqxx ?expr1n ?addr0 // => j /negbTE->.
by rewrite expr0n.
Qed.

(* The output polynomial of the witness has degree 3^L exactly. *)
Theorem degree_attained :
  msize (output_poly false (net_of (witness (L := L) h0 a0 p0 R)) i p) = (3 ^ L).+1.
Proof.
apply: nonzero_msize; apply/eqP => /(congr1 (meval (mxvec
  (\matrix_(j, q) const_tokens d one_token j q 0) 0))).
rewrite output_poly_value witness_value mxE one_token_square expr1n mulr1 /one_token eqxx meval0.
by move/eqP; rewrite oner_eq0.
Qed.

(* A polynomial in the weights that is not zero, and whose value is an output. *)
Lemma weight_condition :
  exists2 G : {mpoly R[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> R,
      G.@[fun k => w (enum_val k)] = net false (net_of w) (const_tokens d one_token) i p 0.
Proof.
pose X (t : weight_name L H a d) : {mpoly R[#|weight_name L H a d|]} := 'X_(enum_rank t).
pose x := const_tokens d one_token.
pose G := net false (net_of X) (fun j => map_mx (@mpolyC _ R : {rmorphism _ -> _}) (x j)) i p 0.
have GE w : G.@[fun k => w (enum_val k)] = net false (net_of w) x i p 0.
  have /matrixP/(_ p 0) := net_image (meval (fun k => w (enum_val k)) : {rmorphism _ -> _}) false
    (net_of X) (fun j => map_mx (@mpolyC _ R : {rmorphism _ -> _}) (x j)) i.
  rewrite mxE => /= ->; rewrite net_of_map.
  rewrite (@eq_net_of _ _ _ _ _ _ w) => [|t]; last by rewrite /= mevalXU enum_rankK.
  rewrite (eq_net _ _ (z := x)) // => j; apply/matrixP => q s.
  by rewrite !mxE /= mevalC.
exists G => //; apply/eqP => /(congr1 (meval (fun k => witness h0 a0 p0 R (enum_val k)))).
rewrite GE witness_value mxE one_token_square expr1n mulr1 /one_token eqxx meval0.
by move/eqP; rewrite oner_eq0.
Qed.

(* Claim: separation_rank/degree. For almost all weights, that is, wherever a polynomial G in the
   weights that is not zero does not vanish, the output coordinate has degree 3^L exactly. *)
Theorem degree_almost_every :
  exists2 G : {mpoly R[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> R, G.@[fun k => w (enum_val k)] != 0 ->
      output_poly false (net_of w) i p \is (3 ^ L).-homog /\
      msize (output_poly false (net_of w) i p) = (3 ^ L).+1.
Proof.
have [G G0 GE] := weight_condition; exists G => // w; rewrite GE => nz; split.
  by have := degree_homogeneous (net_of w) i p; rewrite size_net_of.
apply: nonzero_msize; apply: contra nz => /eqP z.
by rewrite -output_poly_value z meval0.
Qed.

End Attained.

(* --- bidegrees and residual connections are attained ------------------------------------------ *)

Section Restriction.
Variables (R : comRingType) (d n : nat) (c : 'I_n -> R) (e : 'I_n -> nat).

(* Token j becomes c_j t^(e_j), in all its coordinates. A coefficient that is not zero then shows a
   monomial. *)
Definition restriction : 'I_(n * d) -> {poly R} :=
  mxvec (\matrix_(j, q) const_tokens d (fun j => c j *: 'X^(e j)) j q 0) 0.

Lemma restriction_monomial m :
  mmap1 restriction m = (\prod_j c j ^+ token_degree j m) *: 'X^(\sum_j e j * token_degree j m).
Proof.
rewrite /mmap1 (reindex _ (curry_mxvec_bij _ _)) /=.
have -> : \prod_j0 restriction (uncurry (@mxvec_index n d) j0) ^+
    m (uncurry (@mxvec_index n d) j0) = \prod_j (c j *: 'X^(e j)) ^+ token_degree j m.
  rewrite (eq_bigr (fun j : 'I_n * 'I_d =>
    (c j.1 *: 'X^(e j.1)) ^+ m (mxvec_index j.1 j.2))) => [|[j q] _].
    rewrite -(pair_bigA _ (fun j q => (c j *: 'X^(e j)) ^+ m (mxvec_index j q))) /=.
    by apply: eq_bigr => j _; rewrite -prodrXr.
  by rewrite /restriction /= mxvecE !mxE.
elim/big_rec3: _ => [|j x y z _ ->]; first by rewrite expr0 scale1r.
by rewrite exprZn -exprM -scalerAl -scalerAr scalerA -exprD.
Qed.

Lemma restriction_coef (p : {mpoly R[n * d]}) k :
  (mmap (polyC : {rmorphism _ -> _}) restriction p)`_k != 0 ->
  exists2 m, m \in msupp p &
    \prod_j c j ^+ token_degree j m != 0 /\ (\sum_j e j * token_degree j m)%N = k.
Proof.
move=> nz; pose ok (m : 'X_{1..n * d}) := (\prod_j c j ^+ token_degree j m != 0) &&
  ((\sum_j e j * token_degree j m)%N == k).
have [/hasP[m mp /andP[c0 /eqP ek]]|no] := boolP (has ok (msupp p)); first by exists m.
case/eqP: nz; rewrite /mmap coef_sum big1_seq // => m /= mp.
rewrite restriction_monomial /= -scalerAr coefZ coefMXn coefC.
have : ~~ ok m by apply: contra no => okm; apply/hasP; exists m.
rewrite negb_and negbK => /orP[/eqP->|ek]; first by rewrite mul0r.
case: ltnP => [_|le]; first by rewrite mulr0.
rewrite subn_eq0 [X in if X then _ else _](_ : _ = false) ?mulr0 //.
by apply: contraNF ek => ke; rewrite eqn_leq le ke.
Qed.

Lemma coef_square_binomial (x y : R) C k : (k <= C)%N ->
  ((x%:P + y%:P * 'X^2) ^+ C)`_(k.*2) = x ^+ (C - k) * y ^+ k *+ 'C(C, k).
Proof.
rewrite -ltnS => kC; rewrite exprDn coef_sum (bigD1 (Ordinal kC)) //= big1 => [|j jk].
  by rewrite addr0 coefMn exprMn -!rmorphXn /= -exprM mulrA -polyCM coefCM coefXn mul2n eqxx mulr1.
rewrite coefMn exprMn -!rmorphXn /= -exprM mulrA -polyCM coefCM coefXn mul2n.
have -> : (k.*2 == j.*2) = false.
  by apply: contraNF jk => /eqP kj; apply/eqP/val_inj => /=; lia.
by rewrite mulr0 mul0rn.
Qed.

End Restriction.

Section MoreAttained.
Variables (R : comRingType) (L H a d n : nat) (h0 : 'I_H) (a0 : 'I_a) (p0 : 'I_d).
Variables (i : 'I_n) (p : 'I_d).
Local Notation W S := (net_of (witness (L := L) h0 a0 p0 S)).

Lemma witness_image (S : comRingType) (f : {rmorphism R -> S}) : net_map f (W R) = W S.
Proof.
rewrite net_of_map; apply: eq_net_of => -[[[[l h] s] k] q] /=.
by rewrite rmorph_nat.
Qed.

Lemma witness_restriction residual (c : 'I_n -> R) e :
  mmap (polyC : {rmorphism _ -> _}) (@restriction R d n c e) (output_poly residual (W R) i p) =
  net residual (W ({poly R} : comRingType))
    (const_tokens d (fun j => c j *: 'X^(e j) : {poly R})) i p 0.
Proof. by rewrite /restriction output_poly_mmap witness_image. Qed.

(* Claim: separation_rank/two_tokens_upper, its parts by bidegree.
   Over a ring of characteristic 0 each bidegree (3^L - 2k, 2k) with 0 <= k <= (3^L - 1)/2 occurs,
   for any two sides that are not empty, with weights 0 and 1. *)
Theorem bidegree_attained (A : {set 'I_n}) k : (forall m, (0 < m)%N -> m%:R != 0 :> R) ->
  i \in A -> A != setT -> (k <= moment_degree L)%N ->
  exists2 m, m \in msupp (output_poly false (W R) i p) &
    side_degree A m = (3 ^ L - k.*2)%N /\ side_degree (~: A) m = k.*2.
Proof.
move=> char0 iA AT kC; pose e (j : 'I_n) : nat := j \notin A.
have [|m mo [_ em]] := @restriction_coef R d n (fun=> 1) e (output_poly false (W R) i p) k.*2.
  rewrite witness_restriction witness_value mxE /e iA expr0 scale1r mul1r.
  have -> : \sum_j ((1 : R) *: 'X^(j \notin A : nat)) ^+ 2 =
      (#|A|%:R%:P + #|~: A|%:R%:P * 'X^2 : {poly R}).
    rewrite (bigID (mem A)) /=; congr (_ + _).
      rewrite (eq_bigr (fun=> 1)) => [|j ->]; last by rewrite expr0 scale1r expr1n.
      by rewrite sumr_const polyCMn polyC1; congr _%:R; apply: eq_card => j; rewrite !inE.
    rewrite (eq_bigr (fun=> 'X^2)) => [|j /negbTE->]; last by rewrite expr1 scale1r.
    rewrite sumr_const -mulr_natl polyCMn polyC1; congr (_%:R * _).
    by apply: eq_card => j; rewrite !inE.
  rewrite coef_square_binomial // -!natrX -natrM -mulrnA.
  apply: char0; rewrite !muln_gt0 !expn_gt0 bin_gt0 kC !card_gt0 andbT.
  have -> : A != set0 by apply/set0Pn; exists i.
  by rewrite -setCT (inj_eq (inv_inj (@setCK _))) AT.
exists m => //; split; last first.
  rewrite -em /side_degree big_mkcond /=; apply: eq_bigr => j _.
  by rewrite inE /e; case: (j \in A); rewrite ?mul0n ?mul1n.
have hm : mdeg m = (3 ^ L)%N.
  have /allP/(_ m mo)/eqP /= -> := degree_homogeneous (W R) i p; by rewrite size_net_of.
have := side_degreeC A m; rewrite hm => <-.
suff -> : side_degree (~: A) m = k.*2 by rewrite addnK.
rewrite -em /side_degree big_mkcond /=; apply: eq_bigr => j _.
by rewrite inE /e; case: (j \in A); rewrite ?mul0n ?mul1n.
Qed.

(* With residual connections the degrees 1 and 3^L both occur, so the bound on the degree is
   attained, and the output is no form. *)
Theorem residual_attained :
  (exists2 m, m \in msupp (output_poly true (W R) i p) & mdeg m = 1%N) /\
  (exists2 m, m \in msupp (output_poly true (W R) i p) & mdeg m = (3 ^ L)%N).
Proof.
pose c := one_token R i; pose e (j : 'I_n) := 1%N.
pose g := iter L (fun g : {poly R} => g + g ^+ 3) 'X.
have E : mmap (polyC : {rmorphism _ -> _}) (@restriction R d n c e) (output_poly true (W R) i p) = g.
  rewrite witness_restriction.
  pose t (g : {poly R}) (j : 'I_n) := (j == i)%:R * g.
  rewrite (eq_net _ _ (z := const_tokens d (t 'X))) => [|j]; last first.
    by rewrite /const_tokens /c /one_token /t; congr const_mx; case: (j == i);
      rewrite ?scale1r ?scale0r ?mul1r ?mul0r.
  have -> : g = iter (size (enum 'I_L)) (fun g : {poly R} => g + g ^+ 3) 'X.
    by rewrite size_enum_ord.
  rewrite {g}/net_of; elim: (enum 'I_L) 'X => [|l rest IH] g.
    by rewrite mxE /t eqxx mul1r.
  rewrite [size _]/= iterSr -IH /=; apply: (congr1 (fun v : 'cV_d => v p 0)).
  apply: eq_net => j; rewrite witness_layer; congr const_mx.
  rewrite (bigD1 i) //= big1 /t => [|k /negbTE->]; last by rewrite mul0r expr0n.
  by rewrite eqxx mul1r addr0 [g ^+ 3]exprS mulrDr !mulrA.
have degree_of m : (\sum_j e j * token_degree j m)%N = mdeg m.
  rewrite -(side_degreeC setT m) setCT /side_degree big_set0 addn0.
  by apply: eq_big => [j|j _]; rewrite ?inE ?mul1n.
suff [g1 gL] : g`_1 = 1 /\ g`_(3 ^ L) = 1.
  split; [have := @restriction_coef R d n c e (output_poly true (W R) i p) 1
         |have := @restriction_coef R d n c e (output_poly true (W R) i p) (3 ^ L)];
    by rewrite E ?g1 ?gL oner_eq0 => /(_ isT)[m mo [_ em]]; exists m => //; rewrite -degree_of.
split.
  suff [v -> ] : exists v : {poly R}, g = 'X * (1 + 'X * v).
    by rewrite coefXM /= coefD coefXM coef1 addr0.
  rewrite /g; elim: L => [|l [v Hv]] /=; first by exists 0; rewrite mulr0 addr0 mulr1.
  exists (v + 'X * (1 + 'X * v) ^+ 3); rewrite Hv exprMn !mulrDr !mulr1 -!addrA.
  congr (_ + (_ + _)).
  by rewrite !mulrA !exprS expr0 mulr1 !mulrA.
suff [gm gs] : g \is monic /\ size g = (3 ^ L).+1.
  by have /monicP := gm; rewrite lead_coefE gs.
rewrite /g; elim: L => [|l [gm gs]] /=; first by rewrite monicX size_polyX.
set h := iter l _ _ in gm gs *.
have h0' : h != 0 by rewrite monic_neq0.
have s3 : size (h ^+ 3) = (3 ^ l.+1).+1.
  rewrite !exprS expr0 mulr1 (size_Mmonic h0') ?monicMl // (size_Mmonic h0' gm) gs expnS.
  by lia.
have lt : (size h < size (h ^+ 3))%N.
  by rewrite gs s3 expnS ltnS ltn_Pmull ?expn_gt0.
split; last by rewrite addrC size_addl // s3.
by rewrite monicE addrC lead_coefDl //; apply: monic_exp.
Qed.

End MoreAttained.

(* Control of separation_rank/degree: with residual connections and at least one layer the output of
   the witness is no form of any degree. *)
Theorem residual_no_form (R : comRingType) L H a d n (h0 : 'I_H) (a0 : 'I_a) (p0 : 'I_d)
    (i : 'I_n) (p : 'I_d) k : (0 < L)%N ->
  output_poly true (net_of (witness (L := L) h0 a0 p0 R)) i p \isn't k.-homog.
Proof.
move=> L0; have [[m mo m1] [u uo uL]] := residual_attained R L h0 a0 p0 i p.
apply/negP; rewrite dhomogE => /allP ho.
have /eqP /= := ho _ mo; have /eqP /= := ho _ uo; rewrite m1 uL => <-.
by move/eqP; rewrite -[X in X == _](expn0 3) eqn_exp2l // eq_sym eqn0Ngt L0.
Qed.

(* Without residual connections no other degree is right: the constant 3 cannot be replaced. *)
Theorem degree_only (R : comRingType) L H a d n (h0 : 'I_H) (a0 : 'I_a) (p0 : 'I_d)
    (i : 'I_n) (p : 'I_d) k :
  (output_poly false (net_of (witness (L := L) h0 a0 p0 R)) i p \is k.-homog) = (k == 3 ^ L)%N.
Proof.
have nz : output_poly false (net_of (witness (L := L) h0 a0 p0 R)) i p != 0.
  by rewrite -msize_poly_eq0 degree_attained.
apply/idP/eqP => [hk|->].
  by have := degree_attained R L h0 a0 p0 i p; rewrite (homog_msize nz hk) => -[].
by have := degree_homogeneous (net_of (witness (L := L) h0 a0 p0 R)) i p; rewrite size_net_of.
Qed.

(* --- the degree in the second moments --------------------------------------------------------- *)

Section Moments.
Variables (R : comRingType) (d a : nat).
Implicit Types (layers : seq (seq (head R d a))) (x : 'cV[R]_d).
Local Notation inR := (@mpolyC (d * d) R : {rmorphism _ -> _}).

(* A symmetric matrix of variables: entry (p, q) is the variable of {p, q}. Of the d * d variables
   only the d (d + 1) / 2 with p <= q are used. *)
Definition generic_moments : 'M[{mpoly R[d * d]}]_d :=
  \matrix_(p, q) 'X_(if (p <= q)%N then mxvec_index p q else mxvec_index q p).

(* Coordinate p of the output at a position with token x, a polynomial in the second moments. *)
Definition moment_poly layers x (p : 'I_d) : {mpoly R[d * d]} :=
  (net_matrix (net_map inR layers) generic_moments *m map_mx inR x) p 0.

Lemma generic_moments_sym : generic_moments^T = generic_moments.
Proof.
apply/matrixP => p q; rewrite !mxE; congr 'X_ _.
case: ltngtP => // /val_inj ->; by [].
Qed.

(* The output is this polynomial at the second moments of all tokens. *)
Theorem moment_poly_value n layers (x : 'I_n -> 'cV[R]_d) i p :
  net false layers x i p 0 = (moment_poly layers (x i) p).@[mxvec (moments x) 0].
Proof.
rewrite normal_form /moment_poly; set v := mxvec _ 0.
transitivity ((map_mx (meval v : {rmorphism _ -> _})
  (net_matrix (net_map inR layers) generic_moments *m map_mx inR (x i))) p 0); last by rewrite mxE.
rewrite map_mxM net_matrix_image; congr ((_ *m _) p 0).
  congr net_matrix.
    rewrite /net_map -map_comp -[LHS]map_id; apply: eq_map => heads /=.
    rewrite -map_comp -[LHS]map_id; apply: eq_map => -[q k w o] /=; rewrite /head_map /=.
    by congr Head; apply/matrixP => s t; rewrite !mxE /= mevalC.
  apply/matrixP => s t; rewrite !mxE /= mevalXU /v.
  by case: ifP => _; rewrite mxvecE // -[in LHS]moments_sym mxE.
by apply/matrixP => s t; rewrite !mxE /= mevalC.
Qed.

Let form e f (k : nat) (A : 'M[{mpoly R[d * d]}]_(e, f)) :=
  forall p q, within [pred m | mdeg m == k] (A p q).

Let form_mul e f g (k l : nat) (A : 'M_(e, f)) (B : 'M_(f, g)) :
  form k A -> form l B -> form (k + l)%N (A *m B).
Proof.
move=> Ak Bl p q; rewrite mxE; apply: within_sum => r _.
apply: withinM (Ak p r) (Bl r q) => u v /= /eqP uk /eqP vl.
by rewrite mdegD uk vl.
Qed.

Let form_weights e f (W : 'M[R]_(e, f)) : form 0 (map_mx inR W).
Proof.
move=> p q; rewrite mxE /within msuppC; case: ifP => //= _.
by rewrite mdeg0.
Qed.

Let form_tr e f (k : nat) (A : 'M_(e, f)) : form k A -> form k A^T.
Proof. by move=> Ak p q; rewrite mxE. Qed.

Lemma layer_matrix_form (heads : seq (head R d a)) (k : nat) M :
  form k M -> form k (layer_matrix (map (head_map inR) heads) M).
Proof.
move=> Mk p q; rewrite /layer_matrix summxE big_map; apply: within_sum => w _.
suff H : form k (map_mx inR (output w) *m map_mx inR (value w) *m M *m (map_mx inR (key w))^T *m
  map_mx inR (query w)) by exact: H.
rewrite -[k]addn0; apply: form_mul (form_weights _).
rewrite -[k]addn0; apply: form_mul; last by apply/form_tr/form_weights.
rewrite -[k]add0n; apply: form_mul Mk.
exact: (form_mul (form_weights _) (form_weights _)).
Qed.

Lemma net_matrix_form layers (k : nat) M :
  form k M -> form (k * moment_degree (size layers))%N (net_matrix (net_map inR layers) M).
Proof.
elim: layers k M => [|heads rest IH] k M Mk /=.
  rewrite muln0 => p q; rewrite mxE /within; case: (p == q); rewrite ?msupp0 //.
  by rewrite msupp1 /= mdeg0.
have T := layer_matrix_form heads Mk.
have -> : (k * moment_degree (size rest).+1 = (k + k + k) * moment_degree (size rest) + k)%N.
  by rewrite moment_degreeS; nia.
apply: (form_mul _ T); apply: IH; apply: form_mul (form_tr T); exact: form_mul T Mk.
Qed.

(* Claim: separation_rank/moments_degree, its upper half.
   Every output coordinate is linear in the token at its position, and a form of degree
   C(L) = (3^L - 1)/2 in the second moments (or zero); for all weights, widths and heads. *)
Theorem moment_homogeneous layers x p :
  moment_poly layers x p \is (moment_degree (size layers)).-homog.
Proof.
rewrite dhomogE -[moment_degree _]addn0 -[moment_degree _]mul1n.
apply: form_mul (form_weights _) _ _.
apply: net_matrix_form => s t; rewrite mxE /within msuppX /=.
by rewrite mdeg1.
Qed.

(* The polynomial of the moments is linear in the token at its position. *)
Theorem moment_poly_linear layers (s : R) x y p :
  moment_poly layers (s *: x + y) p = s *: moment_poly layers x p + moment_poly layers y p.
Proof. by rewrite /moment_poly map_mxD map_mxZ mulmxDr -scalemxAr !mxE mul_mpolyC. Qed.

(* Claim: separation_rank/moments_degree, its lower half.
   There are weights, for each width, heads and depth, for which the degree is C(L) exactly. *)
Theorem moment_degree_attained L H (h0 : 'I_H) (a0 : 'I_a) (p0 p : 'I_d) :
  msize (moment_poly (net_of (witness (L := L) h0 a0 p0 R)) (const_mx 1) p) = (moment_degree L).+1.
Proof.
have := moment_homogeneous (net_of (witness (L := L) h0 a0 p0 R)) (const_mx 1) p.
rewrite size_net_of; apply: homog_msize.
have := moment_poly_value (net_of (witness (L := L) h0 a0 p0 R))
  (const_tokens d (fun _ : 'I_1 => 1)) 0 p.
rewrite witness_value mxE big_ord1 !expr1n mulr1 => e; apply/eqP => z.
by move/eqP: e; rewrite /const_tokens z meval0 oner_eq0.
Qed.

(* And it is C(L) for almost all weights, here at the token of ones. *)
Theorem moment_degree_almost_every L H (h0 : 'I_H) (a0 : 'I_a) (p0 p : 'I_d) :
  exists2 G : {mpoly R[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> R, G.@[fun k => w (enum_val k)] != 0 ->
      msize (moment_poly (net_of w) (const_mx 1) p) = (moment_degree L).+1.
Proof.
have [G G0 GE] := weight_condition R L h0 a0 p0 (0 : 'I_1) p; exists G => // w; rewrite GE => nz.
have := moment_homogeneous (net_of w) (const_mx 1) p; rewrite size_net_of.
apply: homog_msize; apply: contra nz => /eqP z.
by rewrite (moment_poly_value (net_of w)) /const_tokens /one_token eqxx z meval0.
Qed.

End Moments.

(* --- values ----------------------------------------------------------------------------------- *)

Definition degree_value (L : N) : N := (3 ^ L)%num.
Definition moment_degree_value (L : N) : N := ((3 ^ L - 1) / 2)%num.

Lemma bin_of_natE m : bin_of_nat m = N.of_nat m.
Proof. by apply: (can_inj nat_of_binK); rewrite bin_of_natK; lia. Qed.

Lemma degree_valueE (L : nat) : degree_value (bin_of_nat L) = bin_of_nat (3 ^ L).
Proof.
rewrite /degree_value !bin_of_natE; elim: L => // L IH.
by rewrite expnS Nnat.Nat2N.inj_succ N.pow_succ_r' IH; lia.
Qed.

Lemma moment_degree_valueE (L : nat) :
  moment_degree_value (bin_of_nat L) = bin_of_nat (moment_degree L).
Proof.
rewrite /moment_degree_value -/(degree_value _) degree_valueE -double_moment_degree !bin_of_natE.
rewrite (_ : _ - 1 = N.of_nat (moment_degree L) * 2)%num; last by lia.
by rewrite N.div_mul.
Qed.

Example degree_value_8 : degree_value 8 = 6561%num.
Proof. by []. Qed.

(* Three layers of two heads of width 3 on five tokens of width 4, over the integers. *)
Example degree_example :
  msize (output_poly false (net_of (witness (L := 3) (0 : 'I_2) (0 : 'I_3) (0 : 'I_4)
    (int : comRingType))) (1 : 'I_5) (2%:R : 'I_4)) = 28%N.
Proof. by rewrite degree_attained. Qed.

Example bidegree_example : exists2 m, m \in msupp (output_poly false (net_of (witness (L := 2)
    (0 : 'I_2) (0 : 'I_3) (0 : 'I_4) (int : comRingType))) (1 : 'I_5) (2%:R : 'I_4)) &
  side_degree [set 1; 2%:R : 'I_5] m = 3%N /\ side_degree (~: [set 1; 2%:R : 'I_5]) m = 6%N.
Proof.
apply: (@bidegree_attained _ _ _ _ _ _ _ _ _ _ _ _ 3) => //.
- by move=> m m0; rewrite pnatr_eq0 -lt0n.
- by rewrite !inE.
by apply/eqP => /setP/(_ 0); rewrite !inE.
Qed.

(* Some polynomial G in the weights is not 0, and wherever it does not vanish the output is
   homogeneous of just this degree. *)
Corollary degree_checked (R : comRingType) (L H a d n : nat) (h0 : 'I_H) (a0 : 'I_a) (p0 : 'I_d)
    (i : 'I_n) (p : 'I_d) :
  let degree := nat_of_bin (degree_value (bin_of_nat L)) in
  exists2 G : {mpoly R[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> R, G.@[fun k => w (enum_val k)] != 0 ->
      output_poly false (net_of w) i p \is degree.-homog /\
      msize (output_poly false (net_of w) i p) = degree.+1.
Proof. by rewrite /= degree_valueE bin_of_natK; apply: degree_almost_every. Qed.

(* Claim: separation_rank/degree. For almost all weights, that is, outside a null set, the output is
   homogeneous of just this degree. *)
Corollary degree_almost_all (R : archiFieldType) (L H a d n : nat) (h0 : 'I_H) (a0 : 'I_a)
    (p0 : 'I_d) (i : 'I_n) (p : 'I_d) :
  let degree := nat_of_bin (degree_value (bin_of_nat L)) in
  almost_all (fun w : weight_name L H a d -> R =>
    output_poly false (net_of w) i p \is degree.-homog /\
    msize (output_poly false (net_of w) i p) = degree.+1).
Proof. by have [] := almost_all_weights (degree_checked R L h0 a0 p0 i p). Qed.

(* Some polynomial G in the weights is not 0, and wherever it does not vanish this is the degree of
   the polynomial of the moments. *)
Corollary moments_degree_checked (R : comRingType) (L H a d : nat) (h0 : 'I_H) (a0 : 'I_a)
    (p0 p : 'I_d) :
  exists2 G : {mpoly R[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> R, G.@[fun k => w (enum_val k)] != 0 ->
      msize (moment_poly (net_of w) (const_mx 1) p)
      = (nat_of_bin (moment_degree_value (bin_of_nat L))).+1.
Proof. by rewrite moment_degree_valueE bin_of_natK; apply: moment_degree_almost_every. Qed.

(* Claim: separation_rank/moments_degree. For almost all weights this is the degree of the
   polynomial of the moments, at the token of ones. *)
Corollary moments_degree_almost_all (R : archiFieldType) (L H a d : nat) (h0 : 'I_H) (a0 : 'I_a)
    (p0 p : 'I_d) :
  almost_all (fun w : weight_name L H a d -> R =>
    msize (moment_poly (net_of w) (const_mx 1) p)
    = (nat_of_bin (moment_degree_value (bin_of_nat L))).+1).
Proof. by have [] := almost_all_weights (moments_degree_checked R L h0 a0 p0 p). Qed.

(* The net of bidegree_example: two layers of two heads of width 3, five tokens of width 4. *)
Definition example_net (R : comRingType) : seq (seq (head R 4 3)) :=
  net_of (witness (L := 2) (0 : 'I_2) (0 : 'I_3) (0 : 'I_4) R).

(* Its output is a form of degree 9 and of no other; with residual connections it is no form. *)
Example degree_only_example k :
  (output_poly false (example_net (int : comRingType)) (1 : 'I_5) 2%:R \is k.-homog) = (k == 9)%N.
Proof. exact: degree_only. Qed.
Example residual_no_form_example k :
  output_poly true (example_net (int : comRingType)) (1 : 'I_5) 2%:R \isn't k.-homog.
Proof. exact: residual_no_form. Qed.

(* With residual connections it has a monomial of degree 9, which is odd in token 1, the one that is
   read, and even in token 0; without, one of bidegree (3, 6) in the tokens 1, 2 and the others. *)
Example residual_example (one : 'I_5 := 1) (zero : 'I_5 := 0) :
  exists2 m, m \in msupp (output_poly true (example_net (int : comRingType)) one 2%:R) &
  mdeg m = 9%N /\ [&& odd (mdeg m), mdeg m <= 9, odd (token_degree one m)
                     & ~~ odd (token_degree zero m)]%N.
Proof.
have [_ [m mp m9]] := @residual_attained (int : comRingType) 2 2 3 4 5 0 0 0 one 2%:R.
exists m => //; split=> //; rewrite !(token_parity mp) eqxx /=.
by have [odd_m] := degree_residual mp; rewrite odd_m size_net_of => ->.
Qed.
Example bidegrees_example (A := [set 1; 2%:R : 'I_5]) m :
  m \in msupp (output_poly false (example_net (int : comRingType)) 1 2%:R) ->
  side_degree (~: A) m \in [:: 0; 2; 4; 6; 8]%N.
Proof.
move=> mp; have iA : 1 \in A by rewrite !inE.
have [k] := bidegree iA mp; rewrite size_net_of => k4 [_ ->].
by case: k k4 => [|[|[|[|[|]]]]].
Qed.

(* Two layers of two heads of width 3 on tokens of width 4, for almost all weights: degree 9 in the
   entries of five tokens, and 4 in the second moments. *)
Example degree_9 : exists2 G : {mpoly int[#|weight_name 2 2 3 4|]}, G != 0 &
  forall w, G.@[fun k => w (enum_val k)] != 0 ->
    output_poly false (net_of w) (1 : 'I_5) 2%:R \is 9.-homog /\
    msize (output_poly false (net_of w) (1 : 'I_5) 2%:R) = 10%N.
Proof. exact: (@degree_checked _ 2 2 3 4 5 0 0 0 1 2%:R). Qed.
Example moments_degree_4 : exists2 G : {mpoly int[#|weight_name 2 2 3 4|]}, G != 0 &
  forall w, G.@[fun k => w (enum_val k)] != 0 ->
    msize (moment_poly (net_of w) (const_mx 1) 2%:R) = 5%N.
Proof. exact: (@moments_degree_checked _ 2 2 3 4 0 0 0 2%:R). Qed.
Example degree_almost_all_9 (R : archiFieldType) :
  almost_all (fun w : weight_name 2 2 3 4 -> R =>
    output_poly false (net_of w) (1 : 'I_5) 2%:R \is 9.-homog /\
    msize (output_poly false (net_of w) (1 : 'I_5) 2%:R) = 10%N).
Proof. exact: (@degree_almost_all R 2 2 3 4 5 0 0 0 1 2%:R). Qed.
Example moments_degree_almost_all_4 (R : archiFieldType) :
  almost_all (fun w : weight_name 2 2 3 4 -> R =>
    msize (moment_poly (net_of w) (const_mx 1) 2%:R) = 5%N).
Proof. exact: (@moments_degree_almost_all R 2 2 3 4 0 0 0 2%:R). Qed.
