(* The degree of linearised attention, as a polynomial in the entries of the tokens: 3^L, of which
   an even part falls to each token other than the one that is read; with residual connections all
   odd degrees up to 3^L may occur; and the degree (3^L - 1)/2 in the second moments.

   The objects stand in LinearAttention.v. The variables are the n * d entries of the tokens. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify.
From SsrMultinomials Require Import mpoly freeg.
From depthlaw Require Import LinearAttention.

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
  net residual (net_map [rmorphism of @mpolyC _ R] layers) generic_tokens i p 0.

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
have := net_image [rmorphism of mmap f v] residual
  (net_map [rmorphism of @mpolyC (n * d) R] layers) (@generic_tokens R d n) i.
move=> /matrixP/(_ p 0); rewrite mxE => /= ->.
have -> : net_map [rmorphism of mmap f v] (net_map [rmorphism of @mpolyC (n * d) R] layers) =
  net_map f layers.
  rewrite /net_map -map_comp; apply: eq_map => heads /=.
  rewrite -map_comp; apply: eq_map => -[q k w o] /=; rewrite /head_map /=.
  by congr Head; apply/matrixP => s t; rewrite !mxE /= mmapC.
suff /eq_net -> : (fun j => map_mx (mmap f v) (generic_tokens R d j)) =1 x by [].
move=> j; apply/matrixP => q s; rewrite !mxE mmapX mmap1U /v ord1.
by rewrite mxvecE mxE.
Qed.

Theorem output_poly_value (R : comRingType) d a n residual (layers : seq (seq (head R d a)))
    (x : 'I_n -> 'cV[R]_d) i p :
  (output_poly residual layers i p).@[mxvec (\matrix_(j, q) x j q 0) 0] =
  net residual layers x i p 0.
Proof.
rewrite /meval (output_poly_mmap [rmorphism of idfun]).
suff -> : net_map [rmorphism of idfun] layers = layers by [].
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
  vwithin S v -> vwithin S (map_mx [rmorphism of @mpolyC _ R] W *m v).
Proof.
by move=> Sv k; rewrite !mxE; apply: within_sum => l _; rewrite !mxE; apply: withinC; apply: Sv.
Qed.

(* One layer: outputs gather products of one entry at i and two at j. *)
Lemma layer_within (residual : bool) d a n (heads : seq (head R d a))
    (y : 'I_n -> 'cV[{mpoly R[N]}]_d) (S : 'I_n -> pred 'X_{1..N}) (U : pred 'X_{1..N}) i :
  (forall j, vwithin (S j) (y j)) ->
  (forall j u v w, S i u -> S j v -> S j w -> U (u + v + w)%MM) ->
  (residual -> subpred (S i) U) ->
  vwithin U (layer residual (map (head_map [rmorphism of @mpolyC _ R]) heads) y i).
Proof.
move=> Sy HU HR p; rewrite /layer mxE; apply: withinD.
  case: residual HR => [HR|_]; last by rewrite mxE within0.
  exact: within_sub (HR isT) (Sy i p).
rewrite big_map summxE; apply: within_sum => w _.
apply: vwithin_weights => {p} p; rewrite summxE; apply: within_sum => j _.
rewrite mxE.
have Sij : forall k, within (S i) ((map_mx [rmorphism of @mpolyC _ R] (query w) *m y i) k 0).
  exact: vwithin_weights.
have Sk : forall k, within (S j) ((map_mx [rmorphism of @mpolyC _ R] (key w) *m y j) k 0).
  exact: vwithin_weights.
have Sv : within (S j) ((map_mx [rmorphism of @mpolyC _ R] (value w) *m y j) p 0).
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
Local Notation inR := [rmorphism of @mpolyC (n * d) R].

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
  apply: layer_within (fun k => [pred m | odd (token_degree j m) == (j == k)]) _ _ Hy _ _ => //.
  move=> l u v w /= /eqP ou /eqP ov /eqP ow.
  by rewrite !tdD !oddD ou ov ow; do 2!case: (j == _).
have /allP/(_ m mo)/eqP := H layers (@generic_tokens R d n) i _ p; apply=> k q.
rewrite mxE /within msuppX /= andbT token_degree1 eq_sym.
by case: (_ == _).
Qed.

(* The degrees in the two sides of the tokens add up to the degree. *)
Lemma side_degreeC A m : (side_degree A m + side_degree (~: A) m)%N = mdeg m.
Proof.
rewrite mdegE (reindex _ (curry_mxvec_bij _ _)) /= -(pair_bigA _ (fun j p => m (mxvec_index j p))).
rewrite /side_degree (bigID (mem A)) /=; congr (_ + _)%N.
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
