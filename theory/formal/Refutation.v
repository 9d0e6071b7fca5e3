(* The refutation of Theorem 2's recalled upper bound on the separation rank (Levine et al. 2020),
   and of any bound c d L with an absolute constant c, as in
   theory/separation_rank/product_bound.py and upper_bounds.py.

   Weights of 0 and 1 make every layer of H heads multiply the token that is read by one moment of
   an H-dimensional block. So the output is x_p times a product of powers of distinct moments, and
   its values on a finite grid of tokens form a matrix of rank prod (exponent + 1). The determinant
   of that matrix is a polynomial in the weights which does not vanish at these: where it does not
   vanish, the separation rank is as large. The field has characteristic 0, as the reals have.

   The objects stand in LinearAttention.v and Degree.v (weight_name, net_of). *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From SsrMultinomials Require Import mpoly.
From depthlaw Require Import LinearAttention Degree.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* --- the objects ------------------------------------------------------------------------------ *)

Section Separation.

(* F of a left and a right argument is a sum of r products. *)
Definition sep_le (R : comRingType) (A B : Type) (F : A -> B -> R) (r : nat) : Prop :=
  exists (g : 'I_r -> A -> R) (h : 'I_r -> B -> R), forall a b, F a b = \sum_i g i a * h i b.

End Separation.

Section Objects.
Variables (R : comRingType) (d n : nat).

(* The tokens of side A are those of u, the others those of v. *)
Definition join (A : {set 'I_n}) (u v : 'I_n -> 'cV[R]_d) (j : 'I_n) : 'cV[R]_d :=
  if j \in A then u j else v j.

(* Coordinate p of the output at position i, of the tokens on either side. *)
Definition side_output a residual (layers : seq (seq (head R d a))) (A : {set 'I_n}) i p u v : R :=
  net residual layers (join A u v) i p 0.

End Objects.

(* The moments of H coordinates. *)
Definition moment_count (H : nat) : nat := (H * H.+1)./2.

(* The product of the claim, over l = 1, ..., min (L, H (H + 1) / 2). *)
Definition product (H L : nat) : nat :=
  (\prod_(1 <= l < (minn L (moment_count H)).+1) (3 ^ (L - l) + 1))%N.

(* The upper bound of Theorem 2 as recalled, before the logarithm to base 3 is taken:
   2 d L + L - 2 d log_3 (d / (2 s e)) + log_3 d, where s is the square root of 2. *)
Definition recalled (K : fieldType) (e s : K) (d L : nat) : K :=
  3%:R ^+ (2 * d * L) * 3%:R ^+ L * (d%:R / (2%:R * s * e)) ^- (2 * d) * d%:R.

(* Euler's number. *)
Definition euler (K : numFieldType) (e : K) : Prop :=
  forall n : nat, (1 + n.+1%:R^-1) ^+ n.+1 <= e <= (1 + n.+1%:R^-1) ^+ n.+2.

(* --- separation ------------------------------------------------------------------------------- *)

Section SeparationLemmas.
Variables (R : comRingType) (A B : Type).
Implicit Types F : A -> B -> R.

Lemma eq_sep_le F F' r : (forall a b, F a b = F' a b) -> sep_le F r -> sep_le F' r.
Proof. by move=> E [g [h gh]]; exists g, h => a b; rewrite -E. Qed.

Lemma sep_le_flip F r : sep_le F r -> sep_le (fun b a => F a b) r.
Proof.
by move=> [g [h gh]]; exists h, g => b a; rewrite gh; apply: eq_bigr => i _; rewrite mulrC.
Qed.

Lemma sep_leW F r s : (r <= s)%N -> sep_le F r -> sep_le F s.
Proof.
move=> rs [g [h gh]].
exists (fun i a => if insub (val i) is Some k then g k a else 0).
exists (fun i b => if insub (val i) is Some k then h k b else 0) => a b; rewrite gh.
pose f i := (if insub i is Some k then g k a else 0) * (if insub i is Some k then h k b else 0).
transitivity (\sum_(i < r) f i).
  by apply: eq_bigr => i _; rewrite /f valK.
rewrite (big_ord_widen _ f rs) big_mkcond; apply: eq_bigr => i _; rewrite /f.
case: ifP => // ir; by rewrite insubF // mul0r.
Qed.

End SeparationLemmas.

(* The rank of values at finitely many arguments is a lower bound. *)
Lemma sep_le_rank (K : fieldType) (A B : Type) (F : A -> B -> K) r m (a : 'I_m -> A) (b : 'I_m -> B)
  : sep_le F r -> \matrix_(s, t) F (a s) (b t) \in unitmx -> (m <= r)%N.
Proof.
move=> [g [h gh]]; rewrite -row_full_unit => /eqP <-.
have -> : \matrix_(s, t) F (a s) (b t) = (\matrix_(s, i) g i (a s)) *m \matrix_(i, t) h i (b t).
  by apply/matrixP => s t; rewrite !mxE gh; apply: eq_bigr => i _; rewrite !mxE.
exact: mulmx_max_rank.
Qed.

(* --- functions that are independent one after the other --------------------------------------- *)

Section Tower.
Variables (K : fieldType) (I : finType) (m : nat) (e : I -> nat).
Local Notation point := {ffun I -> 'I_m.+1}.

(* Points, and exponents, are bounded by e. *)
Definition box : pred point := family (fun l => [pred q : 'I_m.+1 | (q <= e l)%N]).

Lemma boxP (k : point) : reflect (forall l, (k l <= e l)%N) (k \in box).
Proof. exact: (iffP familyP). Qed.

Lemma card_box : (forall l, (e l <= m)%N) -> #|box| = (\prod_l (e l).+1)%N.
Proof.
move=> em; rewrite card_family -[image_mem _ _]/(map _ _) foldrE big_map big_enum.
apply: eq_bigr => l _; rewrite -sum1_card.
transitivity (\sum_(i < m.+1 | (i < (e l).+1)%N) 1)%N; first by apply: eq_bigl.
by rewrite -(big_ord_widen _ (fun=> 1%N)) ?ltnS ?em // sum1_card card_ord.
Qed.

Definition set_at (j : point) l q : point := [ffun l' => if l' == l then q else j l'].

Lemma set_at_box j l (q : 'I_m.+1) : j \in box -> (q <= e l)%N -> set_at j l q \in box.
Proof.
move=> /boxP jb qe; apply/boxP => l'; rewrite ffunE; by case: eqP => // ->.
Qed.

Variables (rank : I -> nat) (phi : I -> point -> K) (b : I -> nat -> K -> K).
Hypothesis rank_inj : injective rank.
Hypothesis phi_low : forall l (j j' : point),
  (forall l', (rank l' <= rank l)%N -> j l' = j' l') -> phi l j = phi l j'.
Hypothesis phi_inj : forall l (j : point) (q q' : 'I_m.+1), j \in box -> (q <= e l)%N -> (q' <= e l)%N ->
  phi l (set_at j l q) = phi l (set_at j l q') -> q = q'.
Hypothesis basis : forall l (t : 'I_m.+1 -> K) (c : 'I_m.+1 -> K),
  {in [pred q : 'I_m.+1 | (q <= e l)%N] &, injective t} ->
  (forall s : 'I_m.+1, (s <= e l)%N -> \sum_(q : 'I_m.+1 | (q <= e l)%N) c q * b l q (t s) = 0) ->
  forall q : 'I_m.+1, (q <= e l)%N -> c q = 0.

Lemma tower (c : point -> K) :
  (forall j, j \in box -> \sum_(k in box) c k * \prod_l b l (k l) (phi l j) = 0) ->
  forall k, k \in box -> c k = 0.
Proof.
move=> H0.
pose agree n (k k0 : point) := [forall l, (n <= rank l)%N ==> (k l == k0 l)].
pose claim n := forall k0 j, k0 \in box -> j \in box ->
  \sum_(k in box | agree n k k0) c k * \prod_(l | (rank l < n)%N) b l (k l) (phi l j) = 0.
pose M := (\max_l rank l).+1.
have rM l : (rank l < M)%N by rewrite ltnS; apply: (leq_bigmax l).
have start : claim M.
  move=> k0 j k0b jb; rewrite -[RHS](H0 j jb); apply: eq_big => k.
    rewrite -[RHS]andbT; congr (_ && _); apply/forallP => l; by rewrite leqNgt rM.
  by move=> _; congr (_ * _); apply: eq_bigl => l; rewrite rM.
have step n : claim n.+1 -> claim n.
  move=> Hn k0 j k0b jb.
  have [l /eqP ln|no] := pickP (fun l => rank l == n); last first.
    rewrite -[RHS](Hn k0 j k0b jb).
    have lt l : (n < rank l)%N = (n <= rank l)%N by rewrite [RHS]leq_eqVlt eq_sym no.
    apply: eq_big => k.
      by congr (_ && _); apply: eq_forallb => l; rewrite lt.
    move=> _; congr (_ * _); apply: eq_bigl => l.
    by rewrite [RHS]ltnS [RHS]leq_eqVlt no.
  pose t q := phi l (set_at j l q).
  pose C (q : 'I_m.+1) := \sum_(k in box | agree n.+1 k k0 && (k l == q))
    c k * \prod_(l | (rank l < n)%N) b l (k l) (phi l j).
  have lt l' : (rank l' < n.+1)%N && (l' != l) = (rank l' < n)%N.
    by rewrite ltnS [in LHS]leq_eqVlt -{1}ln (inj_eq rank_inj); case: eqP => [->|]; rewrite ?ln ?ltnn ?andbT.
  have Cq : forall q : 'I_m.+1, (q <= e l)%N -> C q = 0.
    apply: (@basis l t).
      move=> q q' /= qe qe'; exact: phi_inj.
    move=> s se; rewrite -[RHS](Hn k0 (set_at j l s) k0b (set_at_box jb se)).
    rewrite [RHS](partition_big (fun k : point => k l) (fun q : 'I_m.+1 => (q <= e l)%N)) /=.
      apply: eq_bigr => q qe; rewrite /C mulr_suml.
      apply: eq_big => k; first by rewrite andbA.
      move=> /and3P[kb ag /eqP kl]; rewrite [in RHS](bigD1 l) /= ?ln // -mulrA; congr (_ * _).
      rewrite mulrC kl; congr (_ * _).
      apply: eq_big => [l'|l' l'n]; first by rewrite lt.
      congr b; apply: phi_low => l'' r; rewrite ffunE; case: eqP => // E.
      by move: r; rewrite E ln leqNgt l'n.
    by move=> k /andP[/boxP].
  rewrite -[RHS](Cq (k0 l)); last by have /boxP := k0b.
  apply: eq_bigl => k; rewrite andbA -andbA; congr (_ && _).
  apply/forallP/andP => [ag|[/forallP ag kl] l'].
    split; last by have := ag l; rewrite ln leqnn.
    by apply/forallP => l'; apply/implyP => /ltnW n'; have := ag l'; rewrite n'.
  apply/implyP; rewrite leq_eqVlt => /orP[/eqP E|n'].
    by rewrite -ln in E; rewrite -(rank_inj E).
  by have := ag l'; rewrite n'.
have H n : claim n.
  have [nM|/ltnW Mn] := leqP n M; last first.
    move=> k0 j k0b jb; rewrite -[RHS](start k0 j k0b jb).
    have hi l : (n <= rank l)%N = false by apply/negbTE; rewrite -ltnNge; apply: leq_trans Mn.
    have hi' l : (M <= rank l)%N = false by apply/negbTE; rewrite -ltnNge.
    apply: eq_big => k; first by congr (_ && _); apply: eq_forallb => l; rewrite hi hi'.
    move=> _; congr (_ * _); apply: eq_bigl => l; rewrite rM; by apply: leq_trans Mn.
  rewrite -(subKn nM); elim: (M - n)%N (leq_subr n M) => [|s IH] sM; first by rewrite subn0.
  apply: step; rewrite -subSn ?subSS //; exact/IH/ltnW.
move=> k kb; rewrite -[RHS](H 0%N k k kb kb) (big_pred1 k) => [|k'].
  by rewrite big_pred0 // mulr1.
rewrite /= /agree; apply/andP/eqP => [[_ /forallP E]|->]; first by apply/ffunP => l; apply/eqP/E.
by split=> //; apply/forallP => l; rewrite eqxx.
Qed.


Lemma tower_unit : \matrix_(s < #|box|, t < #|box|)
  \prod_l b l (enum_val t l) (phi l (enum_val s)) \in unitmx.
Proof.
set W := \matrix_(_, _) _; rewrite -unitmx_tr -row_free_unit -kermx_eq0; apply/eqP/row_matrixP => r.
rewrite row0; set v := row r _.
have : v *m W^T = 0 by rewrite /v -row_mul mulmx_ker row0.
move: v => v vW; pose c k := \sum_(t : 'I_#|box| | enum_val t == k) v 0 t.
have cE t : c (enum_val t) = v 0 t.
  by rewrite /c (big_pred1 t) // => t' /=; rewrite (inj_eq enum_val_inj).
apply/rowP => t; rewrite mxE -cE; apply: tower (enum_valP t) => j jb.
rewrite big_enum_val /=; have /rowP/(_ (enum_rank_in jb j)) := vW.
rewrite !mxE => E; rewrite -[RHS]E; apply: eq_bigr => k _.
by rewrite !mxE cE enum_rankK_in.
Qed.

End Tower.

(* --- powers of numbers ------------------------------------------------------------------------ *)

Section Powers.
Variables (K : fieldType) (m e : nat) (t c : 'I_m.+1 -> K).
Hypotheses (em : (e <= m)%N) (t_inj : {in [pred q : 'I_m.+1 | (q <= e)%N] &, injective t}).

Lemma powers : (forall s : 'I_m.+1, (s <= e)%N ->
    \sum_(q : 'I_m.+1 | (q <= e)%N) c q * t s ^+ q = 0) ->
  forall q : 'I_m.+1, (q <= e)%N -> c q = 0.
Proof.
move=> H; pose P := \poly_(q < e.+1) c (inord q).
have PE s : P.[t s] = \sum_(q : 'I_m.+1 | (q <= e)%N) c q * t s ^+ q.
  rewrite horner_poly (big_ord_widen m.+1 (fun q => c (inord q) * t s ^+ q)) ?ltnS //.
  by apply: eq_bigr => q _; rewrite inord_val.
pose rs := [seq t s | s <- enum [pred q : 'I_m.+1 | (q <= e)%N]].
have size_rs : size rs = e.+1.
  rewrite size_map -cardE -sum1_card.
  transitivity (\sum_(i < m.+1 | (i < e.+1)%N) 1)%N; first by apply: eq_bigl.
  by rewrite -(big_ord_widen _ (fun=> 1%N)) ?ltnS // sum1_card card_ord.
have P0 : P = 0.
  apply/eqP/negPn/negP => Pn.
  have : all (root P) rs.
    by apply/allP => x /mapP[s]; rewrite mem_enum => se ->; rewrite rootE PE H.
  move=> /(max_poly_roots Pn)/(_ _); rewrite size_rs => lt.
  have : (e.+1 < size P)%N.
    apply: lt; rewrite map_inj_in_uniq ?enum_uniq // => q q'; rewrite !mem_enum; exact: t_inj.
  by rewrite ltnNge size_poly.
move=> q qe; have := coef_poly e.+1 (fun q => c (inord q)) q.
by rewrite -/P P0 coef0 ltnS qe inord_val.
Qed.

End Powers.

Lemma powers_down (K : fieldType) m e (t c : 'I_m.+1 -> K) : (e <= m)%N ->
  {in [pred q : 'I_m.+1 | (q <= e)%N] &, injective t} ->
  (forall s : 'I_m.+1, (s <= e)%N ->
    \sum_(q : 'I_m.+1 | (q <= e)%N) c q * t s ^+ (e - q) = 0) ->
  forall q : 'I_m.+1, (q <= e)%N -> c q = 0.
Proof.
move=> em t_inj H q qe; pose rev (q : 'I_m.+1) : 'I_m.+1 := inord (e - q).
have revE (k : 'I_m.+1) : rev k = (e - k)%N :> nat.
  by rewrite /rev inordK // ltnS; apply: leq_trans em; apply: leq_subr.
have revK : {in [pred q : 'I_m.+1 | (q <= e)%N], involutive rev}.
  by move=> k /= ke; apply/val_inj; rewrite /= revE revE subKn.
rewrite -(revK q qe); apply: (powers (c := c \o rev) em t_inj) => [s se|]; last first.
  by rewrite revE leq_subr.
rewrite -[RHS](H s se) [RHS](reindex_onto rev rev) /=; last exact: revK.
rewrite (eq_bigl (fun k => (rev k <= e)%N && (rev (rev k) == k))) => [|k].
  by apply: eq_bigr => k /andP[_ /eqP kk]; rewrite -revE kk.
apply/idP/andP => [ke|[_ /eqP <-]]; last by rewrite revE leq_subr.
by rewrite revE leq_subr revK ?eqxx.
Qed.
