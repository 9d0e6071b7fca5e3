(* With residual connections the separation rank of linearised self-attention is at least that
   without: for all weights, over every field of characteristic 0.

   With residual connections a layer is y -> y + T(M) y in place of y -> T(M) y. At tokens divided
   by s, and times s^(3^L), its output is that of layers y -> s^(2 3^l) y + T(M) y, l = 0, 1, ....
   That is a polynomial in s, and at s = 0 the output without residual connections. A matrix of
   polynomials has at s = 0 at most the rank that it has at some other s; and the separation rank of
   a polynomial is the rank of the matrix of its values at finitely many tokens.

   The net stands in LinearAttention.v, its polynomial in Degree.v, the rank in SeparationRank.v. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import mpoly.
From Depthlaw Require Import LinearAttention Degree SeparationRank.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* --- scaled tokens ---------------------------------------------------------------------------- *)

Section Damped.
Variables (R : comRingType) (d a n : nat).
Implicit Types (layers : seq (seq (head R d a))) (y : 'I_n -> 'cV[R]_d).

(* The net whose layer l, from 0 on, adds its input times s^(2 3^l) to its output. *)
Fixpoint damped (s : R) layers y : 'I_n -> 'cV[R]_d :=
  if layers is heads :: rest then
    damped (s ^+ 3) rest (fun i => s ^+ 2 *: y i + layer false heads y i)
  else y.

Lemma dot_scaled m (s t : R) (u v : 'cV[R]_m) : dot (s *: u) (t *: v) = s * t * dot u v.
Proof. by rewrite /dot mulr_sumr; apply: eq_bigr => k _; rewrite !mxE mulrACA. Qed.

Lemma layer_scaled (t : R) (heads : seq (head R d a)) y i :
  layer false heads (fun j => t *: y j) i = t ^+ 3 *: layer false heads y i.
Proof.
rewrite /layer !add0r scaler_sumr; apply: eq_bigr => w _.
rewrite /attend scalemxAr; congr (_ *m _); rewrite scaler_sumr; apply: eq_bigr => j _.
by rewrite -!scalemxAr dot_scaled !scalerA mulrAC -expr2 -exprSr.
Qed.

Lemma eq_damped s layers y z : y =1 z -> damped s layers y =1 damped s layers z.
Proof.
elim: layers s y z => //= heads rest IH s y z yz; apply: IH => i.
by rewrite yz (eq_layer _ _ yz).
Qed.

Lemma damped_scaled (s t : R) layers y i : t * s = 1 ->
  net true layers (fun j => t *: y j) i = t ^+ (3 ^ size layers) *: damped s layers y i.
Proof.
elim: layers s t y i => [|heads rest IH] s t y i ts /=; first by rewrite expr1.
rewrite expnS exprM -(IH (s ^+ 3)); last by rewrite -exprMn ts expr1n.
apply: eq_net => j.
rewrite -[layer true _ _ _]/(t *: y j + \sum_(w <- heads) attend w (fun k => t *: y k) j).
have := layer_scaled t heads y j; rewrite {1}/layer add0r => ->.
rewrite [RHS]scalerDr scalerA; congr (_ *: _ + _).
by rewrite exprS -mulrA -exprMn ts expr1n mulr1.
Qed.

Lemma damped0 layers y : damped 0 layers y =1 net false layers y.
Proof.
elim: layers y => //= heads rest IH y i; rewrite expr0n /= IH.
by apply: eq_net => j; rewrite expr0n scale0r add0r.
Qed.

End Damped.

Lemma damped_image (R S : comRingType) (f : {rmorphism R -> S}) d a n (s : R)
    (layers : seq (seq (head R d a))) (y : 'I_n -> 'cV[R]_d) i :
  map_mx f (damped s layers y i) = damped (f s) (net_map f layers) (fun j => map_mx f (y j)) i.
Proof.
elim: layers s y => //= heads rest IH s y; rewrite IH rmorphXn; apply: eq_damped => j.
by rewrite map_mxD map_mxZ rmorphXn layer_image.
Qed.

(* --- the rank of a matrix of polynomials ------------------------------------------------------ *)

Section Limit.
Variables (K : fieldType).
Hypothesis char0 : [char K] =i pred0.

Lemma whole_neq0 k : (0 < k)%N -> k%:R != 0 :> K.
Proof. by rewrite ((charf0P K).1 char0) -lt0n. Qed.

Lemma whole_inj k l : k%:R = l%:R :> K -> k = l.
Proof.
wlog kl : k l / (k <= l)%N => [W|/eqP].
  by case/orP: (leq_total k l) => [|lk E]; [exact: W|apply/esym/W].
rewrite eq_sym -subr_eq0 -natrB // ((charf0P K).1 char0) subn_eq0 => lk.
by apply/eqP; rewrite eqn_leq kl.
Qed.

(* A polynomial that is not zero does not vanish everywhere. *)
Lemma poly_nonroot (p : {poly K}) : p != 0 -> exists2 s : K, s != 0 & p.[s] != 0.
Proof.
move=> p0; pose rs := [seq k%:R : K | k <- iota 1 (size p)].
have urs : uniq rs.
  by rewrite map_inj_uniq ?iota_uniq // => k l; apply: whole_inj.
have : ~~ all (root p) rs.
  apply/negP => /(max_poly_roots p0)/(_ urs).
  by rewrite size_map size_iota ltnn.
case/allPn => s /mapP[k]; rewrite mem_iota => /andP[k0 _] -> nr.
by exists k%:R => //; apply: whole_neq0.
Qed.

(* The rank at 0 is at most what it is at all other places. *)
Lemma rank_limit k l (M : 'M[{poly K}]_(k, l)) r :
  (forall s : K, s != 0 -> (\rank (map_mx (horner_eval s) M) <= r)%N) ->
  (\rank (map_mx (horner_eval 0) M) <= r)%N.
Proof.
move=> Mr; set M0 := map_mx _ M.
pose G := pinvmx (col_base M0); pose H := pinvmx (row_base M0).
pose D := \det (map_mx polyC G *m M *m map_mx polyC H).
have DE s : D.[s] = \det (G *m map_mx (horner_eval s) M *m H).
  have C e f (N : 'M[K]_(e, f)) : map_mx (horner_eval s) (map_mx polyC N) = N.
    by apply/matrixP => u v; rewrite !mxE /horner_eval hornerC.
  by rewrite -[LHS](det_map_mx (horner_eval s : {rmorphism _ -> _})) !map_mxM /= !C.
have E : G *m M0 *m H = 1%:M.
  have : G *m (col_base M0 *m row_base M0) *m H = 1%:M; last by rewrite mulmx_base.
  by rewrite mulmxA mulVpmx ?col_base_full // mul1mx mulmxVp ?row_base_free.
have D0 : D != 0.
  by apply/eqP => D0; have /eqP := DE 0; rewrite -/M0 E det1 D0 horner0 eq_sym oner_eq0.
have [s s0 Ds] := poly_nonroot D0; apply: leq_trans (Mr s s0).
have : G *m map_mx (horner_eval s) M *m H \in unitmx by rewrite unitmxE unitfE -DE.
rewrite -row_full_unit => /eqP <-.
exact: leq_trans (mxrankM_maxl _ _) (mxrankM_maxr _ _).
Qed.

End Limit.

(* --- finitely many tokens are enough ---------------------------------------------------------- *)

(* The digits to base B of a sum tell its terms. *)
Lemma digits_inj (B N : nat) (u v : 'I_N -> nat) :
  (forall j, u j < B)%N -> (forall j, v j < B)%N ->
  (\sum_j u j * B ^ j = \sum_j v j * B ^ j)%N -> u =1 v.
Proof.
elim: N u v => [|N IH] u v uB vB; first by move=> _ [].
have E (w : 'I_N.+1 -> nat) :
    (\sum_j w j * B ^ j = (\sum_j w (lift ord0 j) * B ^ j) * B + w ord0)%N.
  rewrite big_ord_recl expn0 muln1 addnC big_distrl; congr (_ + _)%N.
  by apply: eq_bigr => j _; rewrite /= /bump expnS mulnAC -mulnA.
have B0 : (0 < B)%N := leq_ltn_trans (leq0n _) (uB ord0).
rewrite !E => uv; have := congr1 (modn^~ B) uv; rewrite /= !modnMDl !modn_small // => uv0.
have /IH rest : (\sum_j u (lift ord0 j) * B ^ j = \sum_j v (lift ord0 j) * B ^ j)%N.
  by have := congr1 (divn^~ B) uv; rewrite /= !divnMDl // !divn_small // !addn0.
move=> j; case: (unliftP ord0 j) => [k|] -> //; exact: rest.
Qed.

Section Interpolation.
Variables (K : fieldType).
Hypothesis char0 : [char K] =i pred0.

(* The powers of k different nodes. *)
Lemma nodes_unit k (t : 'I_k -> K) : injective t -> \matrix_(s, u) t u ^+ s \in unitmx.
Proof.
move=> t_inj; set V := \matrix_(_, _) _; rewrite -row_free_unit -kermx_eq0.
apply/eqP/row_matrixP => r; rewrite row0; set v := row r _.
have : v *m V = 0 by rewrite /v -row_mul mulmx_ker row0.
move: v => v vV; pose p := rVpoly v.
have pt u : p.[t u] = 0.
  have /rowP/(_ u) := vV; rewrite !mxE => E; rewrite -[RHS]E horner_poly.
  by apply: eq_bigr => s _; rewrite valK mxE.
have p0 : p = 0.
  apply/eqP/negPn/negP => p0.
  have : all (root p) [seq t u | u <- enum 'I_k].
    by apply/allP => x /mapP[u _ ->]; rewrite rootE pt.
  move=> /(max_poly_roots p0)/(_ _); rewrite map_inj_uniq ?enum_uniq // size_map size_enum_ord.
  by move=> /(_ isT); rewrite ltnNge size_poly.
by rewrite -[v]rVpolyK -/p p0 linear0.
Qed.

Definition monomial N (x : 'I_N -> K) (m : 'X_{1..N}) : K := \prod_j x j ^+ m j.

(* Monomials of degree less than B are combinations of their values at finitely many points. *)
Lemma monomials_interpolated N B : exists k (a : 'I_k -> 'I_N -> K)
    (c : ('I_N -> K) -> 'I_k -> K), forall x (m : 'X_{1..N}), (mdeg m < B)%N ->
  monomial x m = \sum_s c x s * monomial (a s) m.
Proof.
pose k := #|{: 'X_{1..N < B}}|; pose code (m : 'X_{1..N}) := (\sum_j m j * B ^ j)%N.
pose a (s : 'I_k) (j : 'I_N) : K := 2%:R ^+ (B ^ j * s).
pose mon (u : 'I_k) : 'X_{1..N} := (enum_val u : 'X_{1..N < B}).
pose V : 'M[K]_k := \matrix_(s, u) (2%:R ^+ code (mon u)) ^+ s.
pose c (x : 'I_N -> K) := (\row_u monomial x (mon u)) *m invmx V.
have aE s m : monomial (a s) m = (2%:R ^+ code m) ^+ s.
  rewrite /monomial /code -exprM big_distrl /= -prodrXr; apply: eq_bigr => j _.
  by rewrite -exprM; congr (_ ^+ _); rewrite mulnC mulnA.
have uV : V \in unitmx.
  apply: nodes_unit => u v /eqP; rewrite -!natrX => /eqP/(whole_inj char0)/eqP.
  rewrite eqn_exp2l // => /eqP uv; apply/enum_val_inj/val_inj/mnmP.
  have small (w : 'X_{1..N < B}) j : (w j < B)%N.
    apply: leq_ltn_trans (bmdeg w); rewrite mdegE (bigD1 j) //=; exact: leq_addr.
  exact: (digits_inj (small _) (small _) uv).
exists k, a, (fun x => c x 0) => x m mB.
have /rowP/(_ (enum_rank (BMultinom mB))) : c x *m V = \row_u monomial x (mon u).
  by rewrite /c mulmxKV.
rewrite !mxE /mon enum_rankK /= => <-; apply: eq_bigr => s _.
by rewrite aE [V _ _]mxE /mon enum_rankK.
Qed.

(* The variables in S have the values of x, the others those of z; and the part of a monomial in the
   variables in S. *)
Definition mix N (S : {set 'I_N}) (x z : 'I_N -> K) (k : 'I_N) : K :=
  if k \in S then x k else z k.

Definition on_side N (S : {set 'I_N}) (m : 'X_{1..N}) : 'X_{1..N} :=
  [multinom (if k \in S then m k else 0%N) | k < N].

Lemma mdeg_on_side N (S : {set 'I_N}) m : (mdeg (on_side S m) <= mdeg m)%N.
Proof. by rewrite !mdegE; apply: leq_sum => k _; rewrite mnmE; case: ifP. Qed.

Lemma monomial_mix N (S : {set 'I_N}) x z (m : 'X_{1..N}) :
  \prod_k mix S x z k ^+ m k = monomial x (on_side S m) * monomial z (on_side (~: S) m).
Proof.
rewrite /monomial -big_split; apply: eq_bigr => k _; rewrite /= !mnmE /mix inE.
by case: (k \in S); rewrite /= ?expr0 ?mulr1 ?mul1r.
Qed.

(* A polynomial is a combination of its values at finitely many points of either side. *)
Lemma sides_interpolated N (P : {mpoly K[N]}) (S : {set 'I_N}) : exists k (a : 'I_k -> 'I_N -> K)
    (c : ('I_N -> K) -> 'I_k -> K), forall x z,
  P.@[mix S x z] = \sum_s \sum_t c x s * P.@[mix S (a s) (a t)] * c z t.
Proof.
have [k [a [c cE]]] := monomials_interpolated N (msize P); exists k, a, c => x z.
have value y w : P.@[mix S y w] = \sum_(m <- msupp P) P@_m *
    (monomial y (on_side S m) * monomial w (on_side (~: S) m)).
  by rewrite mevalE; apply: eq_bigr => m _; rewrite monomial_mix.
rewrite value (eq_big_seq (fun m => \sum_s \sum_t P@_m * (monomial (a s) (on_side S m) *
    monomial (a t) (on_side (~: S) m)) * (c x s * c z t))) => [|m mP]; last first.
  have low T := leq_ltn_trans (mdeg_on_side T m) (msize_mdeg_lt mP).
  rewrite (cE x _ (low S)) (cE z _ (low (~: S))) mulr_suml mulr_sumr; apply: eq_bigr => s _.
  rewrite mulr_sumr mulr_sumr; apply: eq_bigr => t _.
  by rewrite [in LHS]mulrACA [LHS]mulrCA mulrC.
rewrite exchange_big; apply: eq_bigr => s _; rewrite exchange_big; apply: eq_bigr => t _ /=.
by rewrite value -mulr_suml [RHS]mulrAC [RHS]mulrC.
Qed.

End Interpolation.

(* --- the rank with residual connections ------------------------------------------------------- *)

(* The output is a combination of its values at finitely many tokens of either side. *)
Lemma output_interpolated (K : fieldType) d a n residual (layers : seq (seq (head K d a)))
    (i : 'I_n) p (A : {set 'I_n}) : [char K] =i pred0 ->
  exists k (x : 'I_k -> 'I_n -> 'cV[K]_d) (c : ('I_n -> 'cV[K]_d) -> 'I_k -> K), forall u v,
    output_sides residual layers i p A u v =
    \sum_s \sum_t c u s * output_sides residual layers i p A (x s) (x t) * c v t.
Proof.
move=> char0; pose P := output_poly residual layers i p.
pose entries (u : 'I_n -> 'cV[K]_d) : 'I_(n * d) -> K := mxvec (\matrix_(j, q) u j q 0) 0.
pose token (y : 'I_(n * d) -> K) (j : 'I_n) : 'cV[K]_d := \col_q y (mxvec_index j q).
have valueE u v : output_sides residual layers i p A u v =
    P.@[mix (entries_of d A) (entries u) (entries v)].
  rewrite /output_sides -output_poly_value; apply: meval_eq => k.
  case/mxvec_indexP: k => j q; rewrite /mix in_entries_of /entries !mxvecE !mxE /two_sides.
  by case: ifP.
have tokenE y : entries (token y) =1 y.
  by move=> k; case/mxvec_indexP: k => j q; rewrite /entries mxvecE !mxE.
have [k [x [c E]]] := sides_interpolated char0 P (entries_of d A).
exists k, (fun s => token (x s)), (fun u => c (entries u)) => u v.
rewrite valueE E; apply: eq_bigr => s _; apply: eq_bigr => t _; congr (_ * _ * _).
by rewrite valueE; apply: meval_eq => l; rewrite /mix !tokenE.
Qed.

(* Residual connections do not make the separation rank smaller: for all weights, any number of
   layers, heads and tokens, any position and coordinate that are read and any two sides. *)
Theorem residual_rank (K : fieldType) d a n (layers : seq (seq (head K d a))) (i : 'I_n)
    (p : 'I_d) (A : {set 'I_n}) r : [char K] =i pred0 ->
  sep_le (output_sides true layers i p A) r -> sep_le (output_sides false layers i p A) r.
Proof.
move=> char0 S; have [k [x [c E]]] := output_interpolated false layers i p A char0.
pose W : 'M[K]_k := \matrix_(s, t) output_sides false layers i p A (x s) (x t).
have Wr : (\rank W <= r)%N.
  pose M : 'M[{poly K}]_k := \matrix_(s, t) damped 'X (net_map (polyC : {rmorphism _ -> _}) layers)
    (fun j => map_mx polyC (two_sides A (x s) (x t) j)) i p 0.
  have ME h : map_mx (horner_eval h) M =
      \matrix_(s, t) damped h layers (two_sides A (x s) (x t)) i p 0.
    apply/matrixP => s t; rewrite [LHS]mxE [M _ _]mxE [RHS]mxE.
    have /matrixP/(_ p 0) := damped_image (horner_eval h : {rmorphism _ -> _}) 'X
      (net_map (polyC : {rmorphism _ -> _}) layers) (fun j => map_mx polyC (two_sides A (x s) (x t) j)) i.
    rewrite mxE /= => ->; rewrite /horner_eval hornerX.
    have -> : net_map (horner_eval h : {rmorphism _ -> _}) (net_map (polyC : {rmorphism _ -> _}) layers) = layers.
      rewrite /net_map -map_comp -[RHS]map_id; apply: eq_map => heads /=.
      rewrite -map_comp -[RHS]map_id; apply: eq_map => -[q e w o] /=; rewrite /head_map /=.
      by congr Head; apply/matrixP => b b'; rewrite !mxE /= /horner_eval hornerC.
    apply: (congr1 (fun y : 'cV_d => y p 0)); apply: eq_damped => j.
    by apply/matrixP => b b'; rewrite !mxE /= /horner_eval hornerC.
  have -> : W = map_mx (horner_eval 0) M.
    by rewrite ME; apply/matrixP => s t; rewrite !mxE damped0.
  apply: (rank_limit char0) => h h0; rewrite ME.
  apply: (SeparationRank.sep_le_rank (F := fun u v => damped h layers (two_sides A u v) i p 0)).
  have [f [g fg]] := S; pose scaled (u : 'I_n -> 'cV[K]_d) j := h^-1 *: u j.
  exists (fun l u => h ^+ (3 ^ size layers) * f l (scaled u)), (fun l v => g l (scaled v)) => u v.
  under eq_bigr do rewrite -mulrA.
  rewrite -mulr_sumr -fg /output_sides.
  have -> : net true layers (two_sides A (scaled u) (scaled v)) i =
      net true layers (fun j => h^-1 *: two_sides A u v j) i.
    by apply: eq_net => j; rewrite /two_sides /scaled; case: ifP.
  by rewrite (damped_scaled (s := h)) ?mulVf // mxE mulrA -exprMn mulfV // expr1n mul1r.
apply: sep_le_mono Wr _.
exists (fun l u => \sum_s c u s * col_base W s l), (fun l v => \sum_t row_base W l t * c v t).
move=> u v; rewrite E.
under [RHS]eq_bigr do rewrite mulr_suml.
rewrite [RHS]exchange_big; apply: eq_bigr => s _ /=.
under [RHS]eq_bigr do rewrite mulr_sumr.
rewrite [RHS]exchange_big; apply: eq_bigr => t _ /=.
have -> : output_sides false layers i p A (x s) (x t) = W s t by rewrite mxE.
rewrite -{1}(mulmx_base W) mxE mulr_sumr mulr_suml; apply: eq_bigr => l _.
by rewrite !mulrA.
Qed.

(* For rational weights: two layers of one head, two tokens. *)
Example residual_rank_2 (w : weight_name 2 1 1 1 -> rat) (i : 'I_2) r :
  sep_le (output_sides true (net_of w) i 0 [set 0]) r ->
  sep_le (output_sides false (net_of w) i 0 [set 0]) r.
Proof. exact: (@residual_rank (rat : fieldType) _ _ _ _ _ _ _ _ (char_num _)). Qed.

(* The rank may be larger: of a layer without heads only the residual connection is left. *)
Example residual_rank_larger (R : comRingType) (layers : seq (seq (head R 1 1)) := [:: [::]]) :
  sep_le (output_sides false layers (0 : 'I_2) 0 [set 0]) 0 /\
  ~ sep_le (output_sides true layers (0 : 'I_2) 0 [set 0]) 0.
Proof.
split=> [|[g [h E]]].
  exists (fun _ _ => 0), (fun _ _ => 0) => x z.
  by rewrite big_ord0 /output_sides /= /layer big_nil addr0 mxE.
have := E (fun _ => const_mx 1) (fun _ => 0); rewrite big_ord0 /output_sides /= /layer big_nil.
by rewrite addr0 /two_sides inE eqxx mxE => /eqP; rewrite oner_eq0.
Qed.
