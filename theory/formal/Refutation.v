(* The refutation of Theorem 2's recalled upper bound on the separation rank (Levine et al. 2020),
   and of any bound c d L with an absolute constant c, as in
   theory/separation_rank/product_bound.py and upper_bounds.py.

   Weights of 0 and 1 make every layer of H heads multiply the token that is read by one moment of
   an H-dimensional block. So the output is x_p times a product of powers of distinct moments, and
   its values on a finite grid of tokens form a matrix of rank prod (exponent + 1). The determinant
   of that matrix is a polynomial in the weights which does not vanish at these: where it does not
   vanish, the separation rank is as large. The field has characteristic 0, as the reals have.

   The objects stand in LinearAttention.v, Degree.v (weight_name, net_of) and SeparationRank.v
   (sep_le). *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import perm zify ring.
From mathcomp Require Import mpoly.
From Depthlaw Require Import AlmostAll LinearAttention Degree SeparationRank.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* --- the objects ------------------------------------------------------------------------------ *)

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
Lemma sep_le_rank (K : fieldType) (A B : Type) (F : A -> B -> K) r m (a : 'I_m -> A)
    (b : 'I_m -> B) : sep_le F r -> \matrix_(s, t) F (a s) (b t) \in unitmx -> (m <= r)%N.
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
Hypothesis phi_inj : forall l (j : point) (q q' : 'I_m.+1),
  j \in box -> (q <= e l)%N -> (q' <= e l)%N ->
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
    rewrite ltnS [in LHS]leq_eqVlt -{1}ln (inj_eq rank_inj).
    by case: eqP => [->|]; rewrite ?ln ?ltnn ?andbT.
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

(* --- tokens on a grid ------------------------------------------------------------------------- *)

Section Grid.
Variables (K : fieldType) (H d m : nat) (f : 'I_H -> 'I_d) (e : 'I_H * 'I_H -> nat).
Local Notation point := {ffun 'I_H * 'I_H -> 'I_m.+1}.
Hypothesis f_inj : injective f.
Hypothesis char0 : forall k, (0 < k)%N -> k%:R != 0 :> K.
Hypothesis e_upper : forall a b : 'I_H, (b < a)%N -> e (a, b) = 0%N.

Lemma natr_inj k l : k%:R = l%:R :> K -> k = l.
Proof.
wlog kl : k l / (k <= l)%N => [W|/eqP E].
  by case/orP: (leq_total k l) => [|lk E]; [exact: W|apply/esym/W].
move: E; rewrite eq_sym -subr_eq0 -natrB // => E.
by apply/eqP; rewrite eqn_leq kl /= -subn_eq0 -leqn0 leqNgt; apply: contraL E; apply: char0.
Qed.

(* Entry b of token a: the tokens of a point are the rows of a triangular matrix with a diagonal
   that does not vanish. *)
Definition entry (j : point) (a b : 'I_H) : nat :=
  if (a < b)%N then j (a, b) : nat else if a == b then (j (a, b)).+1 else 0%N.

Definition grid_token (j : point) (a : 'I_H) : 'cV[K]_d :=
  \col_q \sum_(b | f b == q) (entry j a b)%:R.

Definition grid_moment (t : 'I_H * 'I_H) (j : point) : nat :=
  (\sum_a entry j a t.1 * entry j a t.2)%N.

Definition grid_rank (t : 'I_H * 'I_H) : nat := (t.1 * H + t.2)%N.

Lemma grid_tokenE j a b : grid_token j a (f b) 0 = (entry j a b)%:R.
Proof. by rewrite mxE (big_pred1 b) // => c; rewrite /= (inj_eq f_inj). Qed.

Lemma grid_momentE j b c : moments (grid_token j) (f b) (f c) = (grid_moment (b, c) j)%:R.
Proof.
rewrite /moments summxE natr_sum; apply: eq_bigr => a _.
by rewrite mxE big_ord1 [X in _ * X]mxE !grid_tokenE natrM.
Qed.

Lemma grid_rank_inj : injective grid_rank.
Proof.
move=> [a b] [a' b']; rewrite /grid_rank /= => E.
have E1 := congr1 (divn^~ H) E; have E2 := congr1 (modn^~ H) E; move: E1 E2 => /=.
have H0 : (0 < H)%N by apply: leq_ltn_trans (ltn_ord b).
rewrite !divnMDl // !modnMDl !divn_small // !addn0 !modn_small // => E1 E2.
by congr pair; apply/val_inj.
Qed.

Lemma grid_low t (j j' : point) :
  (forall t', (grid_rank t' <= grid_rank t)%N -> j t' = j' t') ->
  grid_moment t j = grid_moment t j'.
Proof.
case: t => b c E; apply: eq_bigr => a _ /=.
have [ba|ab] := ltnP b a.
  by rewrite {1 3}/entry ltnNge (ltnW ba) /= -val_eqE /= gtn_eqF.
have [ca|ac] := ltnP c a.
  by rewrite /= {2 4}/entry ltnNge (ltnW ca) /= -val_eqE /= gtn_eqF // !muln0.
have {}E (q : 'I_H) : (q <= c)%N || (a < b)%N -> j (a, q) = j' (a, q).
  move=> h; apply: E; rewrite /grid_rank /=.
  have := ltn_ord q; move: h ab => /orP[qc ab _|lt _ qH].
    by rewrite leq_add // leq_mul2r ab orbT.
  apply: leq_trans (leq_addr _ _); apply: (@leq_trans (a.+1 * H)%N).
    by rewrite mulSn addnC leq_add2r ltnW.
  by rewrite leq_mul2r lt orbT.
have [lt|ge] := ltnP a b.
  by rewrite /entry !E ?lt ?orbT.
have ba : a = b by apply/val_inj/eqP; rewrite eqn_leq ab ge.
have bc : (b <= c)%N by rewrite -ba.
by rewrite /entry !E ?bc ?leqnn.
Qed.

Lemma grid_inj t (j : point) (q q' : 'I_m.+1) : j \in box e -> (q <= e t)%N -> (q' <= e t)%N ->
  grid_moment t (set_at j t q) = grid_moment t (set_at j t q') -> q = q'.
Proof.
case: t => b c jb qe qe'.
have [cb|bc] := ltnP c b.
  move: qe qe'; rewrite (e_upper cb) !leqn0 => /eqP q0 /eqP q0' _.
  by apply/val_inj; rewrite /= q0 q0'.
pose F r a := (entry (set_at j (b, c) r) a b * entry (set_at j (b, c) r) a c)%N.
have D r : (\sum_a F r a = F r b + \sum_(a | a != b) F r a)%N by exact: (bigD1 b).
have E (a : 'I_H) : a != b -> forall r, set_at j (b, c) q (a, r) = set_at j (b, c) q' (a, r).
  by move=> ab r; rewrite !ffunE xpair_eqE (negbTE ab).
have same : (\sum_(a | a != b) F q a = \sum_(a | a != b) F q' a)%N.
  by apply: eq_bigr => a ab; rewrite /F /entry (E a ab b) (E a ab c).
move=> S; have /addIn := etrans (esym (D q)) (etrans S (etrans (D q') (congr1 _ (esym same)))).
rewrite /F /entry ltnn eqxx.
have [lt|ge] := ltnP b c; rewrite !ffunE eqxx.
  have -> : ((b, b) == (b, c)) = false by rewrite xpair_eqE eqxx -val_eqE /= ltn_eqF.
  by move/eqP; rewrite eqn_mul2l /= => /eqP/val_inj.
have -> : c = b by apply/val_inj/eqP; rewrite eqn_leq ge bc.
rewrite !eqxx => /eqP; rewrite !mulnn eqn_sqr eqSS.
by move=> /eqP/val_inj.
Qed.

End Grid.

(* --- products of powers of sums --------------------------------------------------------------- *)

(* Products of powers of the sums phi l j + phi l j' over two points: as a matrix in these they have
   full rank, where each phi l depends on the coordinates up to its own, and on that one one-to-one.
   *)
Section Products.
Variables (K : fieldType) (I : finType) (m : nat) (e : I -> nat).
Local Notation point := {ffun I -> 'I_m.+1}.
Local Notation box := (@box I m e).
Variables (rank : I -> nat) (phi : I -> point -> nat) (lead : point -> K).
Hypothesis char0 : forall k, (0 < k)%N -> k%:R != 0 :> K.
Hypothesis e_le : forall l, (e l <= m)%N.
Hypothesis rank_inj : injective rank.
Hypothesis phi_low : forall l (j j' : point),
  (forall l', (rank l' <= rank l)%N -> j l' = j' l') -> phi l j = phi l j'.
Hypothesis phi_inj : forall l (j : point) (q q' : 'I_m.+1),
  j \in box -> (q <= e l)%N -> (q' <= e l)%N ->
  phi l (set_at j l q) = phi l (set_at j l q') -> q = q'.
Hypothesis lead_neq0 : forall j, lead j != 0.
Local Notation form l j := ((phi l j)%:R : K).

Lemma product_of_sums (j j' : point) : lead j * \prod_l (form l j + form l j') ^+ e l =
  \sum_(k in box) (lead j * \prod_l form l j ^+ (e l - k l)) *
    \prod_l (form l j' ^+ k l *+ 'C(e l, k l)).
Proof.
transitivity (lead j * \prod_l \sum_(q < m.+1 | (q <= e l)%N)
    form l j ^+ (e l - q) * (form l j' ^+ q *+ 'C(e l, q))).
  congr (_ * _); apply: eq_bigr => l _; rewrite exprDn.
  rewrite (big_ord_widen m.+1 (fun q => form l j ^+ (e l - q) * form l j' ^+ q *+ 'C(e l, q)))
    ?ltnS //.
  by apply: eq_bigr => q _; rewrite mulrnAr.
rewrite bigA_distr_big_dep mulr_sumr; apply: eq_bigr => k _.
by rewrite big_split mulrA.
Qed.

Lemma products_unit : \matrix_(s < #|box|, t < #|box|)
  (lead (enum_val s) * \prod_l (form l (enum_val s) + form l (enum_val t)) ^+ e l) \in unitmx.
Proof.
pose X := \matrix_(s < #|box|, t < #|box|)
  \prod_l form l (enum_val s) ^+ (e l - enum_val t l).
pose Y := \matrix_(s < #|box|, t < #|box|)
  \prod_l (form l (enum_val s) ^+ enum_val t l *+ 'C(e l, enum_val t l)).
pose D := diag_mx (\row_(s < #|box|) lead (enum_val s)).
set V := \matrix_(s, t) _; have -> : V = D *m X *m Y^T.
  apply/matrixP => s t; rewrite mxE product_of_sums big_enum_val [RHS]mxE; apply: eq_bigr => k _.
  rewrite mul_diag_mx !mxE; by [].
have low l (j j' : point) : (forall l', (rank l' <= rank l)%N -> j l' = j' l') ->
    form l j = form l j' by move=> /phi_low ->.
have inj l (j : point) (q q' : 'I_m.+1) : j \in box -> (q <= e l)%N -> (q' <= e l)%N ->
    form l (set_at j l q) = form l (set_at j l q') -> q = q'.
  by move=> jb qe qe' /(natr_inj char0); apply: phi_inj.
rewrite !unitmx_mul unitmx_tr -andbA; apply/and3P; split.
- by rewrite unitmxE det_diag unitfE; apply/prodf_neq0 => s _; rewrite mxE.
- apply: (tower_unit (b := fun l q x => x ^+ (e l - q)) rank_inj low inj).
  by move=> l x c; apply: powers_down.
apply: (tower_unit (b := fun l q x => x ^+ q *+ 'C(e l, q)) rank_inj low inj).
move=> l x c x_inj Hc q qe.
have : c q * ('C(e l, q))%:R = 0.
  apply: (powers (c := fun q => c q * ('C(e l, q))%:R) (e_le l) x_inj) => // s se.
  rewrite -[RHS](Hc s se); apply: eq_bigr => k _.
  by rewrite -[in RHS]mulr_natl mulrA.
by move/eqP; rewrite mulf_eq0 => /orP[/eqP//|]; rewrite (negbTE (char0 _)) // bin_gt0.
Qed.

End Products.

(* --- weights whose layers multiply by one moment ---------------------------------------------- *)

(* The exponents of the moments in the output, for the moments of the layers in their order. *)
Fixpoint exponent (I : eqType) (s : seq I) (t : I) : nat :=
  if s is t' :: rest then ((t' == t) * 3 ^ size rest + exponent rest t)%N else 0%N.

Section Coordinate.
Variables (L H a d : nat) (a0 : 'I_a) (f : 'I_H -> 'I_d) (pair : 'I_L -> 'I_H * 'I_H).

(* Head h of layer l: query and output pick coordinate f h, value and key those of the pair. *)
Definition coordinate (R : comRingType) (t : weight_name L H a d) : R :=
  let: (l, h, s, k, q) := t in
  ((k == a0) && (q == f (if s == inord 1 then (pair l).2 else
    if s == inord 2 then (pair l).1 else h)))%:R.

Hypothesis f_inj : injective f.
Variable R : comRingType.
Local Notation w := (coordinate R).
Local Notation moment M t := (M (f t.1) (f t.2)).

Lemma coordinate_layer l (M : 'M[R]_d) : layer_matrix (layer_of w l) M =
  moment M (pair l) *: \matrix_(q, q') ((q == q') && (q \in codom f))%:R.
Proof.
have ne (s t : nat) : (s < 4)%N -> (t < 4)%N -> s != t -> (inord s == inord t :> 'I_4) = false.
  by move=> s4 t4 st; rewrite -val_eqE /= !inordK //; apply/negbTE.
rewrite /layer_matrix big_map big_enum /=.
have head h : (\matrix_(q, k) w (l, h, inord 3, k, q)) *m (\matrix_(k, q) w (l, h, inord 2, k, q))
    *m M *m (\matrix_(k, q) w (l, h, inord 1, k, q))^T *m (\matrix_(k, q) w (l, h, inord 0, k, q)) =
    moment M (pair l) *: delta_mx (f h) (f h).
  have -> : \matrix_(q, k) w (l, h, inord 3, k, q) = delta_mx (f h) a0.
    by apply/matrixP => q k; rewrite !mxE /= !ne // andbC.
  have -> : \matrix_(k, q) w (l, h, inord 2, k, q) = delta_mx a0 (f (pair l).1).
    by apply/matrixP => k q; rewrite !mxE /= ne // eqxx.
  have -> : \matrix_(k, q) w (l, h, inord 1, k, q) = delta_mx a0 (f (pair l).2).
    by apply/matrixP => k q; rewrite !mxE /= eqxx.
  have -> : \matrix_(k, q) w (l, h, inord 0, k, q) = delta_mx a0 (f h).
    by apply/matrixP => k q; rewrite !mxE /= !ne.
  rewrite mul_delta_mx trmx_delta -!mulmxA mul_delta_mx.
  apply/matrixP => q q'; rewrite !mxE (bigD1 (f (pair l).1)) //= big1 => [|r rp].
    rewrite !mxE eqxx andbT addr0 (bigD1 (f (pair l).2)) //= big1 => [|r rp].
      rewrite !mxE eqxx addr0 /=; case: (q == _); case: (q' == _);
        by rewrite ?mul1r ?mulr1 ?mul0r ?mulr0.
    by rewrite !mxE (negbTE rp) mulr0.
  by rewrite !mxE (negbTE rp) andbF mul0r.
rewrite (eq_bigr (fun h => moment M (pair l) *: delta_mx (f h) (f h))) => [|h _]; last exact: head.
rewrite -scaler_sumr; congr (_ *: _); apply/matrixP => q q'; rewrite summxE mxE.
have [qf|qf] := boolP (q \in codom f); last first.
  rewrite andbF big1 // => h _; rewrite mxE; case: eqP => // E.
  by case/negP: qf; rewrite E codom_f.
have [h E] := codomP qf; rewrite (bigD1 h) //= big1 => [|h' hh]; rewrite mxE E.
  by rewrite eqxx addr0 andbT eq_sym.
by rewrite (inj_eq f_inj) eq_sym (negbTE hh).
Qed.

Lemma sum_exponent (I : finType) (s : seq I) : (\sum_t exponent s t)%N = moment_degree (size s).
Proof.
elim: s => [|t s IH] /=; first by rewrite big1.
rewrite big_split IH (bigD1 t) //= big1 => [|t' /negbTE tt]; last by rewrite eq_sym tt.
by rewrite eqxx mul1n addn0 moment_degreeS -double_moment_degree; lia.
Qed.

(* Coordinate f h of the output is that of the token times powers of moments. *)
Lemma coordinate_value (s : seq 'I_L) (M : 'M[R]_d) (x : 'cV[R]_d) h :
  (net_matrix (map (layer_of w) s) M *m x) (f h) 0 =
  x (f h) 0 * \prod_t moment M t ^+ exponent (map pair s) t.
Proof.
elim: s M x => [|l s IH] M x /=.
  by rewrite mul1mx big1 ?mulr1.
rewrite -(mulmxA (net_matrix _ _)) IH coordinate_layer; set c := moment M (pair l).
pose P : 'M[R]_d := \matrix_(q, q') ((q == q') && (q \in codom f))%:R.
have Pf (n : nat) (N : 'M_(d, n)) h' q : (P *m N) (f h') q = N (f h') q.
  rewrite mxE (bigD1 (f h')) //= big1 => [|r rh]; rewrite mxE ?eqxx ?codom_f ?mul1r ?addr0 //.
  by rewrite [_ == r]eq_sym (negbTE rh) mul0r.
have PT : P^T = P.
  by apply/matrixP => q q'; rewrite !mxE [q' == q]eq_sym; case: eqP => // ->.
rewrite -/P -scalemxAl mxE Pf.
have E t : moment (c *: P *m M *m (c *: P)^T) t = c ^+ 2 * moment M t.
  have -> : c *: P *m M *m (c *: P)^T = c ^+ 2 *: (P *m (M *m P)).
    by rewrite linearZ /= PT -!scalemxAl -scalemxAr scalerA mulmxA -expr2.
  rewrite mxE Pf; congr (_ * _).
  by rewrite -[M]trmxK -{1}PT -trmx_mul mxE Pf mxE trmxK.
rewrite (eq_bigr (fun t => (c ^+ 2) ^+ exponent (map pair s) t *
  moment M t ^+ exponent (map pair s) t)) => [|t _]; last by rewrite E exprMn.
rewrite big_split /= prodrXr sum_exponent size_map.
rewrite [in RHS](eq_bigr (fun t => moment M t ^+ ((pair l == t) * 3 ^ size s) *
  moment M t ^+ exponent (map pair s) t)) => [|t _]; last by rewrite exprD.
rewrite [in RHS]big_split /=.
have -> : \prod_t moment M t ^+ ((pair l == t) * 3 ^ size s) = c ^+ (3 ^ size s).
  rewrite (bigD1 (pair l)) //= big1 => [|t tp]; last by rewrite eq_sym (negbTE tp) mul0n.
  by rewrite eqxx mul1n mulr1.
rewrite -double_moment_degree [c ^+ _.*2.+1]exprS -exprM mul2n.
by rewrite [c * x _ _]mulrC -!mulrA.
Qed.

End Coordinate.

(* --- values on the grid form a matrix of full rank -------------------------------------------- *)

(* Coordinate p of the output at a token x h0 of the tokens x and y, by the normal form. *)
Definition grid_output (R : comRingType) H d a (layers : seq (seq (head R d a))) (h0 : 'I_H) p
    (x y : 'I_H -> 'cV[R]_d) : R :=
  (net_matrix layers (moments x + moments y) *m x h0) p 0.

(* Its values at all pairs of a list of such tokens. *)
Definition output_matrix (R : comRingType) H d a m (x : 'I_m -> 'I_H -> 'cV[R]_d) (h0 : 'I_H) p
    (layers : seq (seq (head R d a))) : 'M[R]_m :=
  \matrix_(s, t) grid_output layers h0 p (x s) (x t).

Section FullRank.
Variables (K : fieldType) (L H a d : nat) (a0 : 'I_a) (f : 'I_H -> 'I_d) (h0 : 'I_H).
Variable pair : 'I_L -> 'I_H * 'I_H.
Hypothesis f_inj : injective f.
Hypothesis char0 : forall k, (0 < k)%N -> k%:R != 0 :> K.
Hypothesis pair_upper : forall l, ((pair l).1 <= (pair l).2)%N.

Definition pairs := map pair (enum 'I_L).
Definition bound := (\max_t exponent pairs t)%N.
Local Notation box := (@box (('I_H * 'I_H)%type : finType) bound (exponent pairs)).
Local Notation point := {ffun 'I_H * 'I_H -> 'I_bound.+1}.
Local Notation token j := (grid_token K f j).
Local Notation form t j := ((grid_moment t j)%:R : K).

Lemma exponent_notin (I : eqType) (s : seq I) t : t \notin s -> exponent s t = 0%N.
Proof.
by elim: s => //= t' s IH; rewrite inE negb_or eq_sym => /andP[/negbTE-> /IH->].
Qed.

Lemma exponent_upper (b c : 'I_H) : (c < b)%N -> exponent pairs (b, c) = 0%N.
Proof.
move=> cb; apply: exponent_notin; apply/mapP => -[l _ E].
by have := pair_upper l; rewrite -E /= leqNgt cb.
Qed.

Lemma exponent_bound t : (exponent pairs t <= bound)%N.
Proof. exact: (leq_bigmax t). Qed.

Definition grid_matrix (layers : seq (seq (head K d a))) : 'M[K]_#|box| :=
  output_matrix (fun s => token (enum_val s)) h0 (f h0) layers.

Lemma grid_matrix_unit : grid_matrix (net_of (coordinate a0 f pair K)) \in unitmx.
Proof.
set V := grid_matrix _; suff -> : V = \matrix_(s, t) ((token (enum_val s) h0) (f h0) 0 *
    \prod_u (form u (enum_val s) + form u (enum_val t)) ^+ exponent pairs u).
  apply: (products_unit (phi := @grid_moment H bound) (lead := fun j => token j h0 (f h0) 0) char0
    exponent_bound (@grid_rank_inj H)) => [t j j'|t j q q'|j].
  - exact: grid_low.
  - by apply: grid_inj; exact: exponent_upper.
  by rewrite (grid_tokenE _ f_inj) /entry ltnn eqxx char0.
apply/matrixP => s t; rewrite mxE [RHS]mxE /grid_output coordinate_value // -/pairs; congr (_ * _).
by apply: eq_bigr => -[b c] _ /=; rewrite mxE !(grid_momentE _ f_inj).
Qed.

Lemma card_grid : #|box| = (\prod_t (exponent pairs t).+1)%N.
Proof. by apply: card_box; apply: exponent_bound. Qed.

End FullRank.

(* --- the rank of the output ------------------------------------------------------------------- *)

(* Token h of a list of H tokens stands at position g h, and zero elsewhere. *)
Definition spread (R : comRingType) H d n (g : 'I_H -> 'I_n) (x : 'I_H -> 'cV[R]_d) (j : 'I_n) :
    'cV[R]_d := \sum_(h | g h == j) x h.

Section Spread.
Variables (R : comRingType) (H d n : nat).
Implicit Types (g : 'I_H -> 'I_n) (x y : 'I_H -> 'cV[R]_d) (A : {set 'I_n}).

Lemma spreadE g x h : injective g -> spread g x (g h) = x h.
Proof. by move=> gi; rewrite /spread (big_pred1 h) // => h'; rewrite /= (inj_eq gi). Qed.

Lemma spread0 g x j : (forall h, g h != j) -> spread g x j = 0.
Proof. by move=> gj; rewrite /spread big_pred0 // => h; apply/negbTE. Qed.

Lemma spread_moments g x A : injective g -> (forall h, g h \in A) ->
  \sum_(j in A) spread g x j *m (spread g x j)^T = moments x.
Proof.
move=> gi gA; rewrite (bigID (mem [set g h | h in setT])) /= [X in _ + X]big1 ?addr0.
  rewrite (eq_bigl (mem [set g h | h in setT])) => [|j]; last first.
    by apply: andb_idl => /imsetP[h _ ->].
  rewrite big_imset => [|h h' _ _ /gi //]; rewrite /moments; apply: eq_big => [h|h _].
    by rewrite inE.
  by rewrite spreadE.
move=> j /andP[_ jg]; rewrite spread0 ?mul0mx // => h.
by apply: contra jg => /eqP <-; apply: imset_f.
Qed.

Lemma join_moments g g' x y A : injective g -> injective g' ->
  (forall h, g h \in A) -> (forall h, g' h \notin A) ->
  moments (join A (spread g x) (spread g' y)) = moments x + moments y.
Proof.
move=> gi gi' gA gA'; rewrite {1}/moments (bigID (mem A)) /=; congr (_ + _).
  rewrite -(spread_moments x gi gA); apply: eq_bigr => j jA; by rewrite /join jA.
rewrite -(@spread_moments g' y (~: A)) // => [|h]; last by rewrite inE.
by apply: eq_big => [j|j /negbTE jA]; rewrite ?inE // /join jA.
Qed.

End Spread.

Lemma injection_through m n (A : {set 'I_n}) (h0 : 'I_m) i : (m <= #|A|)%N -> i \in A ->
  {g : 'I_m -> 'I_n | injective g /\ (forall h, g h \in A) & g h0 = i}.
Proof.
move=> mA iA; pose g h := enum_val (widen_ord mA h).
have gi : injective g by move=> h h' /enum_val_inj /(congr1 val) /= E; apply/val_inj.
have gA h : g h \in A by apply: enum_valP.
exists (fun h => tperm (g h0) i (g h)); last by rewrite tpermL.
split=> [h h' /perm_inj/gi // | h]; by case: tpermP => // ->.
Qed.

(* The rank of the values is a lower bound, whatever the position and the sides, if each side has H
   tokens. *)
Lemma output_rank (K : fieldType) H d a m (x : 'I_m -> 'I_H -> 'cV[K]_d) (h0 : 'I_H) p n
    (layers : seq (seq (head K d a))) (A : {set 'I_n}) i r :
  output_matrix x h0 p layers \in unitmx -> (H <= #|A|)%N -> (H <= #|~: A|)%N ->
  sep_le (side_output false layers A i p) r -> (m <= r)%N.
Proof.
wlog iA : A / i \in A => [W|].
  have [iA|iA] := boolP (i \in A); first exact: W.
  move=> U HA HB S; apply: (W (~: A)) => //; rewrite ?inE ?setCK //.
  apply: eq_sep_le (sep_le_flip S) => u v; rewrite /side_output.
  suff /eq_net -> : join A v u =1 join (~: A) u v by [].
  by move=> j; rewrite /join inE; case: (j \in A).
move=> U HA HB S; have [g [gi gA] gh0] := injection_through h0 HA iA.
have [B0 B0B] : exists j, j \in ~: A.
  by apply/set0Pn; rewrite -card_gt0; apply: leq_trans HB; apply: leq_ltn_trans (ltn_ord h0).
have [g' [gi' gB] _] := injection_through h0 HB B0B.
apply: (sep_le_rank (a := fun s => spread g (x s)) (b := fun t => spread g' (x t)) S).
suff -> : \matrix_(s, t) side_output false layers A i p (spread g (x s)) (spread g' (x t)) =
  output_matrix x h0 p layers by [].
apply/matrixP => s t; rewrite !mxE /side_output normal_form /grid_output join_moments //.
  by rewrite /join iA -gh0 spreadE.
by move=> h; have := gB h; rewrite inE.
Qed.

Section Image.
Variables (R S : comRingType) (p : {rmorphism R -> S}) (H d a : nat).

Lemma moments_image n (x : 'I_n -> 'cV[R]_d) :
  map_mx p (moments x) = moments (fun h => map_mx p (x h)).
Proof. by rewrite /moments raddf_sum; apply: eq_bigr => h _; rewrite /= map_mxM -map_trmx. Qed.

Lemma grid_output_image (layers : seq (seq (head R d a))) (h0 : 'I_H) q x y :
  p (grid_output layers h0 q x y) = grid_output (net_map p layers) h0 q
    (fun h => map_mx p (x h)) (fun h => map_mx p (y h)).
Proof.
rewrite /grid_output -!moments_image -map_mxD -net_matrix_image -map_mxM.
by rewrite [in RHS]mxE.
Qed.

End Image.

Lemma eq_grid_output (R : comRingType) H d a (layers : seq (seq (head R d a))) (h0 : 'I_H) q
    (x x' y y' : 'I_H -> 'cV[R]_d) : x =1 x' -> y =1 y' ->
  grid_output layers h0 q x y = grid_output layers h0 q x' y'.
Proof.
move=> xx yy; rewrite /grid_output xx /moments.
rewrite (eq_bigr (fun h => x' h *m (x' h)^T)) => [|h _]; last by rewrite xx.
by rewrite [X in _ + X](eq_bigr (fun h => y' h *m (y' h)^T)) // => h _; rewrite yy.
Qed.

(* If the values have full rank at some weights, then they have it wherever a polynomial in the
   weights, not zero, does not vanish. *)
Lemma output_condition (K : fieldType) (L H a d T m : nat) (x : 'I_m -> 'I_T -> 'cV[K]_d)
    (h0 : 'I_T) p (explicit : weight_name L H a d -> K) :
  output_matrix x h0 p (net_of explicit) \in unitmx ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> K, G.@[fun k => w (enum_val k)] != 0 ->
      output_matrix x h0 p (net_of w) \in unitmx.
Proof.
move=> U; pose N := #|weight_name L H a d|.
pose X (t : weight_name L H a d) : {mpoly K[N]} := 'X_(enum_rank t).
pose C := (@mpolyC N K : {rmorphism _ -> _}).
pose M : 'M[{mpoly K[N]}]_m := output_matrix (fun s h => map_mx C (x s h)) h0 p (net_of X).
have ME w : (\det M).@[fun k => w (enum_val k)] = \det (output_matrix x h0 p (net_of w)).
  rewrite -[LHS](det_map_mx (meval (fun k => w (enum_val k)) : {rmorphism _ -> _})); congr (\det _).
  apply/matrixP => s t; rewrite mxE [in LHS]mxE mxE.
  rewrite -[LHS]/((meval (fun k => w (enum_val k)) : {rmorphism _ -> _}) _) grid_output_image net_of_map.
  rewrite (@eq_net_of _ _ _ _ _ _ w) => [|u]; last by rewrite /= mevalXU enum_rankK.
  have E j : (fun h => map_mx (meval (fun k => w (enum_val k)) : {rmorphism _ -> _})
      (map_mx C (x j h))) =1 x j.
    by move=> h; apply/matrixP => q q'; rewrite !mxE /= mevalC.
  by rewrite (eq_grid_output _ _ _ (E _) (E _)).
exists (\det M); last by move=> w; rewrite ME unitmxE unitfE.
apply/eqP => /(congr1 (meval (fun k => explicit (enum_val k)))).
by rewrite ME meval0 => E; move: U; rewrite unitmxE unitfE E eqxx.
Qed.

(* --- the product of the exponents ------------------------------------------------------------- *)

Lemma exponent_ge (I : eqType) (x0 : I) (s : seq I) l : (l < size s)%N ->
  (3 ^ (size s - l.+1) <= exponent s (nth x0 s l))%N.
Proof.
elim: s l => // t s IH [_|l] /=; first by rewrite subSS subn0 eqxx mul1n leq_addr.
rewrite ltnS subSS => /IH E; apply: leq_trans E _; exact: leq_addl.
Qed.

Lemma exponent_product (I : finType) (x0 : I) (s : seq I) k : (k <= size s)%N -> uniq (take k s) ->
  (\prod_(0 <= l < k) (3 ^ (size s - l.+1) + 1) <= \prod_t (exponent s t).+1)%N.
Proof.
move=> ks u; have sk : size (take k s) = k by rewrite size_takel.
apply: (@leq_trans (\prod_(t <- take k s) (exponent s t).+1)).
  rewrite (big_nth x0) sk !big_mkord; apply: leq_prod => l _.
  rewrite addn1 ltnS nth_take //; apply: exponent_ge; exact: leq_trans ks.
rewrite (big_uniq _ u) big_mkcond; apply: leq_prod => t _; by case: ifP.
Qed.

(* The moments of H coordinates, row by row; the last one again and again. *)
Definition upper_pairs (H : nat) : seq ('I_H * 'I_H) :=
  filter (fun t : 'I_H * 'I_H => t.1 <= t.2)%N (enum (('I_H * 'I_H)%type : finType)).

Lemma size_upper_pairs H : size (upper_pairs H) = moment_count H.
Proof.
rewrite size_filter -sum1_count big_enum_cond /=.
rewrite -(pair_big_dep xpredT (fun a b : 'I_H => (a <= b)%N) (fun _ _ => 1%N)) /=.
rewrite (exchange_big_dep xpredT) //= (eq_bigr (fun b : 'I_H => b.+1)) => [|b _]; last first.
  transitivity (\sum_(a < H | (a < b.+1)%N) 1)%N; first by apply: eq_bigl.
  by rewrite -(big_ord_widen _ (fun=> 1%N)) ?ltn_ord // sum1_card card_ord.
rewrite /moment_count; have -> : (H * H.+1 = (\sum_(b < H) b.+1).*2)%N; last by rewrite doubleK.
by elim: H => [|h IH]; rewrite ?big_ord0 // big_ord_recr /= doubleD -IH; lia.
Qed.

Definition layer_pair L H (h0 : 'I_H) (l : 'I_L) : 'I_H * 'I_H :=
  nth (last (h0, h0) (upper_pairs H)) (upper_pairs H) l.

Lemma layer_pair_upper L H (h0 : 'I_H) (l : 'I_L) :
  ((layer_pair h0 l).1 <= (layer_pair h0 l).2)%N.
Proof.
have ok t : t \in (h0, h0) :: upper_pairs H -> (t.1 <= t.2)%N.
  by rewrite inE mem_filter => /orP[/eqP->//|/andP[]].
rewrite /layer_pair; have [ls|sl] := ltnP l (size (upper_pairs H)).
  by apply: ok; rewrite inE mem_nth ?orbT.
by rewrite nth_default //; apply: ok; apply: mem_last.
Qed.

Lemma product_exponents L H (h0 : 'I_H) :
  (product H L <= \prod_t (exponent (pairs (@layer_pair L H h0)) t).+1)%N.
Proof.
set s := pairs _; set k := minn L (moment_count H).
have sL : size s = L by rewrite /s size_map size_enum_ord.
have -> : product H L = (\prod_(0 <= l < k) (3 ^ (size s - l.+1) + 1))%N.
  by rewrite /product -/k big_add1 sL.
apply: (exponent_product (h0, h0)); first by rewrite sL geq_minl.
have -> : take k s = take k (upper_pairs H).
  apply: (@eq_from_nth _ (h0, h0)).
    by rewrite !size_takel ?size_upper_pairs ?geq_minr // sL geq_minl.
  move=> l; rewrite size_takel ?sL ?geq_minl // => lk.
  have lL : (l < L)%N by apply: leq_trans lk (geq_minl _ _).
  have lD : (l < size (upper_pairs H))%N.
    by rewrite size_upper_pairs; apply: leq_trans lk (geq_minr _ _).
  rewrite !nth_take // (nth_map (Ordinal lL)) ?size_enum_ord // /layer_pair nth_enum_ord //.
  exact: set_nth_default.
by apply: take_uniq; apply/filter_uniq/enum_uniq.
Qed.

(* --- the lower bound -------------------------------------------------------------------------- *)

Section LowerBound.
Variables (K : fieldType) (L H a d : nat) (h0 : 'I_H) (a0 : 'I_a).
Hypotheses (char0 : [char K] =i pred0) (Hd : (H <= d)%N).

Lemma char0_nat k : (0 < k)%N -> k%:R != 0 :> K.
Proof. by rewrite ((charf0P K).1 char0) -lt0n. Qed.

Definition block (p : 'I_d) : {f : 'I_H -> 'I_d | injective f & f h0 = p}.
Proof.
have HT : (H <= #|[set: 'I_d]|)%N by rewrite cardsT card_ord.
have [f [fi _] fp] := injection_through h0 HT (in_setT p); by exists f.
Defined.

Definition block_weights (p : 'I_d) : weight_name L H a d -> K :=
  coordinate a0 (s2val (block p)) (@layer_pair L H h0) K.

(* The output at the explicit weights: the token's coordinate times powers of moments. *)
Theorem block_output n (p : 'I_d) (x : 'I_n -> 'cV[K]_d) i (f := s2val (block p)) :
  net false (net_of (block_weights p)) x i p 0 = x i p 0 *
    \prod_t moments x (f t.1) (f t.2) ^+ exponent (pairs (@layer_pair L H h0)) t.
Proof.
rewrite /f /block_weights; case: (block p) => {}f fi fp /=; rewrite -fp.
by rewrite normal_form coordinate_value.
Qed.

(* Claim: separation_rank/product_lower_bound, for the explicit weights. *)
Theorem product_explicit n (p : 'I_d) i (A : {set 'I_n}) r :
  (H <= #|A|)%N -> (H <= #|~: A|)%N ->
  sep_le (side_output false (net_of (block_weights p)) A i p) r -> (product H L <= r)%N.
Proof.
rewrite /block_weights; case: (block p) => f fi fp /= HA HB; rewrite -fp => S.
have U := grid_matrix_unit a0 h0 fi char0_nat (@layer_pair_upper L H h0).
have := output_rank U HA HB S; rewrite card_grid; apply: leq_trans.
exact: product_exponents.
Qed.

(* Claim: separation_rank/product_lower_bound, for almost all weights: there is a polynomial in the
   weights, not zero, outside of whose zeros the separation rank is at least the product, whatever
   the position, the coordinate and the two sides, if each side has as many tokens as a layer has
   heads. *)
Theorem product_almost_every :
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> K, G.@[fun k => w (enum_val k)] != 0 ->
      forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r, (H <= #|A|)%N -> (H <= #|~: A|)%N ->
        sep_le (side_output false (net_of w) A i p) r -> (product H L <= r)%N.
Proof.
have /fin_all_exists2[G G0 GU] : forall p : 'I_d,
    exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
      forall w : weight_name L H a d -> K, G.@[fun k => w (enum_val k)] != 0 ->
        grid_matrix (s2val (block p)) h0 (@layer_pair L H h0) (net_of w) \in unitmx.
  move=> p; case: (block p) => f fi _ /=.
  exact: output_condition (grid_matrix_unit a0 h0 fi char0_nat (@layer_pair_upper L H h0)).
exists (\prod_p G p); first by apply/prodf_neq0.
move=> w; rewrite rmorph_prod => /prodf_neq0 nz n i p A r HA HB.
have := GU p w (nz p isT); case: (block p) => f fi fp /= U; rewrite -fp => S.
have := output_rank U HA HB S.
rewrite card_grid; apply: leq_trans; exact: product_exponents.
Qed.

End LowerBound.

(* Two sides of H tokens each, for the examples below. *)
Definition first_half H : {set 'I_(H + H)} := [set j : 'I_(H + H) | (j < H)%N].

Lemma first_half_sides H : (H <= #|first_half H|)%N /\ (H <= #|~: first_half H|)%N.
Proof.
have E : #|first_half H| = H.
  rewrite cardsE -sum1_card -[RHS]card_ord -[RHS]sum1_card.
  by rewrite [RHS](big_ord_widen (H + H) (fun=> 1%N)) // leq_addr.
have := cardsC (first_half H); rewrite E card_ord => /eqP; rewrite eqn_add2l => /eqP ->.
by rewrite leqnn.
Qed.

(* Rational weights: three layers of two heads of width 1, on two tokens of width 2 on either
   side. *)
Example product_almost_every_2 : exists2 G : {mpoly rat[#|weight_name 3 2 1 2|]}, G != 0 &
  forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(2 + 2)) (p : 'I_2) r,
    sep_le (side_output false (net_of w) (first_half 2) i p) r -> (product 2 3 <= r)%N.
Proof.
have [HA HB] := first_half_sides 2.
have [G G0 GE] :=
  @product_almost_every (rat : fieldType) 3 2 1 2 0 0 (char_num _) (leqnn 2).
exists G => // w nz i p r; exact: GE w nz _ i p _ r HA HB.
Qed.

(* --- the product in numbers ------------------------------------------------------------------- *)

(* (x + 1) (3 x + 1) (9 x + 1) ..., k factors. *)
Fixpoint factors (k : nat) (x : N) : N :=
  if k is k'.+1 then ((x + 1) * factors k' (3 * x))%num else 1%num.

Definition product_value (H L : N) : N :=
  let k := N.min L (H * (H + 1) / 2) in factors (N.to_nat k) (3 ^ (L - k)).

Lemma factorsE k x : factors k (N.of_nat x) = N.of_nat (\prod_(0 <= l < k) (3 ^ l * x + 1))%N.
Proof.
elim: k x => [|k IH] x; first by rewrite big_nil.
rewrite -[factors k.+1 _]/((N.of_nat x + 1) * factors k (3 * N.of_nat x))%num.
rewrite big_nat_recl // expn0 mul1n (_ : 3 * N.of_nat x = N.of_nat (3 * x))%num; last by lia.
rewrite IH (eq_bigr (fun l => 3 ^ l.+1 * x + 1)%N) => [|l _]; last by rewrite expnS mulnCA mulnA.
by lia.
Qed.

Lemma productE H L (k := minn L (moment_count H)) :
  product H L = (\prod_(0 <= l < k) (3 ^ l * 3 ^ (L - k) + 1))%N.
Proof.
have kL : (k <= L)%N by apply: geq_minl.
rewrite /product -/k big_add1 /= big_nat_rev add0n /= !big_mkord; apply: eq_bigr => l _.
by have := ltn_ord l => lk; rewrite -expnD; congr (3 ^ _ + 1)%N; lia.
Qed.

Lemma pow_bin (x k : nat) : (N.of_nat x ^ N.of_nat k)%num = N.of_nat (x ^ k).
Proof.
by elim: k => // k IH; rewrite expnS Nnat.Nat2N.inj_succ N.pow_succ_r' IH; lia.
Qed.

Lemma product_valueE (H L : nat) :
  product_value (bin_of_nat H) (bin_of_nat L) = bin_of_nat (product H L).
Proof.
rewrite /product_value productE !bin_of_natE.
have -> : (N.of_nat H * (N.of_nat H + 1) / 2)%num = N.of_nat (moment_count H).
  rewrite /moment_count; have := odd_double_half (H * H.+1).
  rewrite oddM /= andbN add0n; set h := _./2 => E.
  rewrite (_ : N.of_nat H * (N.of_nat H + 1) = N.of_nat h * 2)%num; last by lia.
  by rewrite N.div_mul.
set D := moment_count H; set k := minn L D.
have -> : N.min (N.of_nat L) (N.of_nat D) = N.of_nat k by lia.
have -> : (N.of_nat L - N.of_nat k)%num = N.of_nat (L - k) by lia.
by rewrite (pow_bin 3) Nnat.Nat2N.id factorsE.
Qed.

(* Over every field of characteristic 0 there is a polynomial G in the weights, not zero, outside of
   whose zeros the following holds. Whatever the number of tokens, the position and coordinate that
   are read and the two sides, as long as each side has H tokens: if the output is a sum of r
   products of functions of the sides, then r is at least the product over l = 1, ..., min (L, H (H
   + 1) / 2) of 3^(L - l) + 1. For every depth L, width d, number of heads H from 1 to d and width a
   of heads. Each side of a balanced partition of N >= 2 (d + 1) tokens has H tokens. *)
Theorem product_lower_bound (K : fieldType) (L H a d : nat) : [char K] =i pred0 ->
  (0 < H <= d)%N -> (0 < a)%N ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> K, G.@[fun k => w (enum_val k)] != 0 ->
      forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r, (H <= #|A|)%N -> (H <= #|~: A|)%N ->
        sep_le (side_output false (net_of w) A i p) r ->
        (nat_of_bin (product_value (bin_of_nat H) (bin_of_nat L)) <= r)%N.
Proof.
move=> char0 /andP[H0 Hd] a_gt0.
have [G G0 GE] := product_almost_every L (Ordinal H0) (Ordinal a_gt0) char0 Hd.
by exists G => // w nz n i p A r HA HB S; rewrite product_valueE bin_of_natK; apply: GE S.
Qed.

(* Claim: separation_rank/product_lower_bound. For almost all weights, that is, outside a null set,
   the separation rank is at least the product, if each side has H tokens. *)
Corollary product_almost_all (R : archiFieldType) (L H a d : nat) : (0 < H <= d)%N -> (0 < a)%N ->
  almost_all (fun w : weight_name L H a d -> R =>
    forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r, (H <= #|A|)%N -> (H <= #|~: A|)%N ->
      sep_le (side_output false (net_of w) A i p) r ->
      (nat_of_bin (product_value (bin_of_nat H) (bin_of_nat L)) <= r)%N).
Proof.
move=> Hd a0.
by have [] := almost_all_weights (@product_lower_bound R L H a d (char_num _) Hd a0).
Qed.

(* The same sizes; the product is (9 + 1)(3 + 1)(1 + 1). *)
Example product_lower_bound_2 : exists2 G : {mpoly rat[#|weight_name 3 2 1 2|]}, G != 0 &
  forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(2 + 2)) (p : 'I_2) r,
    sep_le (side_output false (net_of w) (first_half 2) i p) r -> (80 <= r)%N.
Proof.
have [HA HB] := first_half_sides 2.
have [G G0 GE] :=
  @product_lower_bound (rat : fieldType) 3 2 1 2 (char_num _) isT isT.
exists G => // w nz i p r; exact: GE w nz _ i p _ r HA HB.
Qed.
Example product_almost_all_2 (R : archiFieldType) :
  almost_all (fun w : weight_name 3 2 1 2 -> R => forall (i : 'I_(2 + 2)) (p : 'I_2) r,
    sep_le (side_output false (net_of w) (first_half 2) i p) r -> (80 <= r)%N).
Proof.
have [HA HB] := first_half_sides 2.
apply: almost_all_sub (@product_almost_all R 3 2 1 2 isT isT) => w bound i p r.
exact: bound HA HB.
Qed.

(* The product exceeds the product of the powers. *)
Lemma product_gt H L (k := minn L (moment_count H)) : (0 < k)%N ->
  (3 ^ ('C(k, 2) + k * (L - k)) < product H L)%N.
Proof.
rewrite productE -/k; move: (L - k)%N => m; clearbody k; case: k => // k _.
elim: k => [|k IH].
  by rewrite big_nat1 mul1n expn0 mul1n addn1 ltnS bin_small.
rewrite big_nat_recr //=; apply: leq_trans (leq_mul IH (leqnn _)).
rewrite binS bin1 (_ : _ + _ + _ = ('C(k.+1, 2) + k.+1 * m) + (k.+1 + m))%N; last by lia.
by rewrite expnD [X in (_ < _ * (X + 1))%N](_ : _ = 3 ^ (k.+1 + m))%N ?expnD //; nia.
Qed.

(* --- against the recalled bound --------------------------------------------------------------- *)

(* The product exceeds the recalled bound, where 11/4 stands for e. *)
Definition violates (d H L : N) : bool :=
  (d * 121 ^ d * 3 ^ (L + 2 * d * L) <? product_value H L * 2 ^ d * d ^ (2 * d))%num.

Lemma violatesE (d H L : nat) : violates (bin_of_nat d) (bin_of_nat H) (bin_of_nat L) =
  (d * 121 ^ d * 3 ^ (L + 2 * d * L) < product H L * 2 ^ d * d ^ (2 * d))%N.
Proof.
rewrite /violates product_valueE !bin_of_natE.
rewrite (_ : 2 * N.of_nat d = N.of_nat (2 * d))%num; last by lia.
rewrite (_ : N.of_nat L + _ = N.of_nat (L + 2 * d * L))%num; last by lia.
rewrite (pow_bin 121) (pow_bin 3) (pow_bin 2) pow_bin -!Nnat.Nat2N.inj_mul.
by apply/N.ltb_spec0/idP => ?; lia.
Qed.

Section Against.
Variables (R : realFieldType) (e s : R).

(* Euler's number is below 11/4. All that follows holds for each such number. *)
Theorem euler_le : euler e -> 0 < e <= 11%:R / 4%:R.
Proof.
move=> e_euler.
have /andP[e2 _] := e_euler 0%N; apply/andP; split.
  by apply: lt_le_trans e2; rewrite expr1 invr1 addr_gt0 ?ltr01.
have /andP[_ eu] := e_euler 49%N; apply: le_trans eu _.
have c50 : 50%:R != 0 :> R by rewrite pnatr_eq0.
rewrite (_ : 1 + 50%:R^-1 = 51%:R / 50%:R :> R); last first.
  by rewrite -[51%N]/(1 + 50)%N natrD mulrDl mul1r divff // addrC.
rewrite expr_div_n ler_pdivrMr ?exprn_gt0 ?ltr0n // mulrAC ler_pdivlMr ?ltr0n //.
rewrite -!natrX -!natrM ler_nat.
have : (51 ^ 51 * 4 <=? 11 * 50 ^ 51)%num by vm_compute.
move=> /N.leb_spec0; rewrite (pow_bin 51 51) (pow_bin 50 51).
move: (51 ^ 51)%N (50 ^ 51)%N => x y; lia.
Qed.

Hypotheses (e_le : 0 < e <= 11%:R / 4%:R) (s_root : s ^+ 2 = 2%:R).

Lemma recalled_lt (d L P : nat) : (0 < d)%N ->
  (d * 121 ^ d * 3 ^ (L + 2 * d * L) < P * 2 ^ d * d ^ (2 * d))%N ->
  recalled e s d L < P%:R.
Proof.
move=> d0 lt; have /andP[e0 e1] := e_le.
have dR : 0 < d%:R :> R by rewrite ltr0n.
have -> : recalled e s d L =
    3%:R ^+ (L + 2 * d * L) * d%:R * (8%:R * e ^+ 2) ^+ d / d%:R ^+ (2 * d).
  rewrite /recalled -exprVn invf_div expr_div_n.
  have -> : (2%:R * s * e) ^+ (2 * d) = (8%:R * e ^+ 2) ^+ d.
    by rewrite exprM; congr (_ ^+ d); rewrite !exprMn s_root -natrX -natrM.
  rewrite exprD; move: (3%:R ^+ (2 * d * L)) (3%:R ^+ L) (_ ^+ d) (d%:R ^- (2 * d)) => u v x y.
  by rewrite [u * v]mulrC -!mulrA; congr (_ * (_ * _)); rewrite mulrC -!mulrA mulrC -mulrA.
rewrite ltr_pdivrMr ?exprn_gt0 //.
rewrite -(ltr_pM2r (_ : 0 < 2%:R ^+ d)) ?exprn_gt0 ?ltr0n //.
apply: (@le_lt_trans _ _ (3%:R ^+ (L + 2 * d * L) * d%:R * 121%:R ^+ d)).
  rewrite -(mulrA _ _ (2%:R ^+ d)) -exprMn ler_wpM2l ?mulr_ge0 ?exprn_ge0 ?ler0n //.
  apply: lerXn2r; rewrite ?nnegrE ?ler0n //.
    by rewrite !mulr_ge0 ?ler0n ?exprn_ge0 // ltW.
  have e2 : e ^+ 2 <= (11%:R / 4%:R) ^+ 2.
    by apply: lerXn2r; rewrite ?nnegrE ?divr_ge0 ?ler0n // ltW.
  rewrite mulrAC -natrM.
  apply: le_trans (ler_wpM2l (ler0n _ _) e2) _.
  by rewrite expr_div_n mulrA ler_pdivrMr ?exprn_gt0 ?ltr0n // -!natrX -!natrM ler_nat.
rewrite -!natrX -!natrM ltr_nat.
by move: lt; rewrite [X in (X < _)%N]mulnC mulnA -[X in _ -> (_ < X)%N]mulnAC.
Qed.

End Against.

(* So Euler's number is below 3. Here e stays a variable: no rational number is Euler's number, the
   reals have one. *)
Example euler_below_3 (R : realFieldType) (e : R) : euler e -> 0 < e < 3%:R.
Proof.
move=> /euler_le /andP[-> /le_lt_trans -> //].
by rewrite ltr_pdivrMr ?ltr0n // -natrM ltr_nat.
Qed.

(* The other hypotheses on e and s hold for 11/4 and a root of 2, in every real closed field. *)
Lemma worst_case (R : rcfType) (e : R := 11%:R / 4%:R) (s : R := Num.sqrt 2%:R) :
  0 < e <= 11%:R / 4%:R /\ s ^+ 2 = 2%:R.
Proof. by rewrite lexx andbT sqr_sqrtr ?divr_gt0 ?ltr0n ?ler0n. Qed.

(* Where the numbers say so, the recalled upper bound fails for almost every choice of weights. *)
Theorem recalled_fails (K : fieldType) (R : realFieldType) (e s : R) (L H a d : nat) :
  [char K] =i pred0 -> 0 < e <= 11%:R / 4%:R -> s ^+ 2 = 2%:R -> (0 < H <= d)%N -> (0 < a)%N ->
  violates (bin_of_nat d) (bin_of_nat H) (bin_of_nat L) ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> K, G.@[fun k => w (enum_val k)] != 0 ->
      forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r, (H <= #|A|)%N -> (H <= #|~: A|)%N ->
        sep_le (side_output false (net_of w) A i p) r -> recalled e s d L < r%:R.
Proof.
move=> char0 ee ss Hd a0; rewrite violatesE => lt.
have [G G0 GE] := product_lower_bound L char0 Hd a0; exists G => // w nz n i p A r HA HB S.
have := GE w nz n i p A r HA HB S; rewrite product_valueE bin_of_natK => le.
apply: lt_le_trans (recalled_lt ee ss _ lt) _; last by rewrite ler_nat.
by case/andP: Hd => H0 Hd; apply: leq_trans Hd.
Qed.

(* At d = H = 6 and L = 30, with rational weights, six tokens on either side. *)
Example recalled_fails_6 (R : rcfType) (e : R := 11%:R / 4%:R) (s : R := Num.sqrt 2%:R) :
  exists2 G : {mpoly rat[#|weight_name 30 6 1 6|]}, G != 0 &
    forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(6 + 6)) (p : 'I_6) r,
      sep_le (side_output false (net_of w) (first_half 6) i p) r -> recalled e s 6 30 < r%:R.
Proof.
have [HA HB] := first_half_sides 6; have [ee ss] := worst_case R.
have [|G G0 GE] :=
  @recalled_fails (rat : fieldType) R e s 30 6 1 6 (char_num _) ee ss isT isT.
  vm_cast_no_check (erefl true).
exists G => // w nz i p r; exact: GE w nz _ i p _ r HA HB.
Qed.

(* Claim: separation_rank/upper_bound_deep (it fails), at d = 16, L = 216 and H = 8, so 2 H <= d,
   3^L > d, and both bounds of the theorem are defined. There is a polynomial in the weights, not
   zero, outside of whose zeros the separation rank exceeds Theorem 2's upper bound as recalled,
   whatever the position, the coordinate and the two sides, if each side has 8 tokens; so with 34
   tokens and 17 on each side. Here e is Euler's number, or any number up to 11/4
   (euler_le), and s a square root of 2 in any ordered field. *)
Theorem upper_bound_deep_fails (K : fieldType) (R : realFieldType) (e s : R) (a : nat) :
  [char K] =i pred0 -> 0 < e <= 11%:R / 4%:R -> s ^+ 2 = 2%:R -> (0 < a)%N ->
  exists2 G : {mpoly K[#|weight_name 216 8 a 16|]}, G != 0 &
    forall w : weight_name 216 8 a 16 -> K, G.@[fun k => w (enum_val k)] != 0 ->
      forall n (i : 'I_n) (p : 'I_16) (A : {set 'I_n}) r, (8 <= #|A|)%N -> (8 <= #|~: A|)%N ->
        sep_le (side_output false (net_of w) A i p) r -> recalled e s 16 216 < r%:R.
Proof.
move=> char0 ee ss a0; apply: (@recalled_fails K R e s 216 8 a 16 char0 ee ss isT a0).
vm_cast_no_check (erefl true).
Qed.

(* With heads of width 2 and rational weights, eight tokens on either side. *)
Example upper_bound_deep_fails_8 (R : rcfType) (e : R := 11%:R / 4%:R) (s : R := Num.sqrt 2%:R) :
  exists2 G : {mpoly rat[#|weight_name 216 8 2 16|]}, G != 0 &
    forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(8 + 8)) (p : 'I_16) r,
      sep_le (side_output false (net_of w) (first_half 8) i p) r -> recalled e s 16 216 < r%:R.
Proof.
have [HA HB] := first_half_sides 8; have [ee ss] := worst_case R.
have [G G0 GE] := @upper_bound_deep_fails (rat : fieldType) R e s 2 (char_num _) ee ss isT.
exists G => // w nz i p r; exact: GE w nz _ i p _ r HA HB.
Qed.

(* recalled_fails applies to the other two cases of the claim with weights that multiply by moments,
   too; here H = d. *)
Example upper_bound_deep_6 : violates 6%num 6%num 30%num.
Proof. vm_cast_no_check (erefl true). Qed.

Example upper_bound_deep_4 : violates 4%num 4%num 62%num.
Proof. vm_cast_no_check (erefl true). Qed.

(* The recalled bound fails at the three cases of the claim with weights that multiply by moments: d
   = 16, L = 216, H = 8, and two with H = d. With N >= 2 (d + 1) tokens each side has H of them.
   Outside of the zeros of a polynomial in the weights, which is not zero, the separation rank is at
   least the product, and that exceeds the bound as recalled, where e is Euler's number. The bound
   is an irrational number, so that no term computes it; the term computes the product. *)
Theorem upper_bound_deep_refuted (K : fieldType) (R : realFieldType) (e s : R) (L H a d : nat) :
  [char K] =i pred0 -> euler e -> s ^+ 2 = 2%:R -> (0 < a)%N ->
  (d, L, H) \in [:: (16, 216, 8); (6, 30, 6); (4, 62, 4)]%N ->
  let product := nat_of_bin (product_value (bin_of_nat H) (bin_of_nat L)) in
  recalled e s d L < product%:R /\
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> K, G.@[fun k => w (enum_val k)] != 0 ->
      forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r, (H <= #|A|)%N -> (H <= #|~: A|)%N ->
        sep_le (side_output false (net_of w) A i p) r -> (product <= r)%N.
Proof.
move=> char0 /euler_le ee ss a0 dLH.
have [Hd lt] : (0 < H <= d)%N /\ violates (bin_of_nat d) (bin_of_nat H) (bin_of_nat L).
  move: dLH; rewrite !inE => /or3P[] /eqP[-> -> ->]; split.
  - by [].
  - vm_cast_no_check (erefl true).
  - by [].
  - vm_cast_no_check (erefl true).
  - by [].
  - vm_cast_no_check (erefl true).
rewrite /=; split; last exact: (product_lower_bound L char0 Hd a0).
have d0 : (0 < d)%N by case/andP: Hd => H0; apply: leq_trans.
by move: lt; rewrite violatesE product_valueE bin_of_natK; apply: recalled_lt.
Qed.

(* Claim: separation_rank/upper_bound_deep. It fails: at its three cases with weights that multiply
   by moments the separation rank is, for almost all weights, that is, outside a null set, at least
   the product, which exceeds the bound as recalled. *)
Corollary refuted_almost_all (K : archiFieldType) (R : realFieldType) (e s : R) (L H a d : nat) :
  euler e -> s ^+ 2 = 2%:R -> (0 < a)%N ->
  (d, L, H) \in [:: (16, 216, 8); (6, 30, 6); (4, 62, 4)]%N ->
  let product := nat_of_bin (product_value (bin_of_nat H) (bin_of_nat L)) in
  recalled e s d L < product%:R /\
  almost_all (fun w : weight_name L H a d -> K =>
    forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r, (H <= #|A|)%N -> (H <= #|~: A|)%N ->
      sep_le (side_output false (net_of w) A i p) r -> (product <= r)%N).
Proof.
move=> ee ss a0 dLH.
have [lt G] := @upper_bound_deep_refuted K R e s L H a d (char_num _) ee ss a0 dLH.
by split=> //; have [] := almost_all_weights G.
Qed.

(* At d = H = 4 and L = 62, with rational weights, four tokens on either side. Only e stays a
   variable, as only fields such as the reals have Euler's number. *)
Example upper_bound_deep_refuted_4 (R : rcfType) (e : R) (s : R := Num.sqrt 2%:R) : euler e ->
  exists2 G : {mpoly rat[#|weight_name 62 4 1 4|]}, G != 0 &
    forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(4 + 4)) (p : 'I_4) r,
      sep_le (side_output false (net_of w) (first_half 4) i p) r -> recalled e s 4 62 < r%:R.
Proof.
move=> e_euler; have [HA HB] := first_half_sides 4; have [_ ss] := worst_case R.
have := @upper_bound_deep_refuted (rat : fieldType) R e s 62 4 1 4 (char_num _) e_euler ss isT
  isT.
cbv zeta; move: (nat_of_bin _) => P [lt [G G0 GE]].
exists G => // w nz i p r S; apply: lt_le_trans lt _; rewrite ler_nat.
exact: GE w nz _ i p _ r HA HB S.
Qed.
Example refuted_almost_all_4 (K : archiFieldType) (R : rcfType) (e : R)
    (s : R := Num.sqrt 2%:R) : euler e ->
  almost_all (fun w : weight_name 62 4 1 4 -> K => forall (i : 'I_(4 + 4)) (p : 'I_4) r,
    sep_le (side_output false (net_of w) (first_half 4) i p) r -> recalled e s 4 62 < r%:R).
Proof.
move=> e_euler; have [HA HB] := first_half_sides 4; have [_ ss] := worst_case R.
have := @refuted_almost_all K R e s 62 4 1 4 e_euler ss isT isT.
cbv zeta; move: (nat_of_bin _) => P [lt].
apply: almost_all_sub => w bound i p r S; apply: lt_le_trans lt _; rewrite ler_nat.
exact: bound HA HB S.
Qed.

(* Not only at these: if H heads have more than 2 d + 1 moments, then the recalled bound fails for
   almost every choice of weights at every depth from some depth on; so for every even d >= 16 with
   2 H = d. *)
Theorem upper_bound_deep_fails_on (K : fieldType) (R : realFieldType) (e s : R) (L H a d : nat) :
  [char K] =i pred0 -> 0 < e <= 11%:R / 4%:R -> s ^+ 2 = 2%:R -> (0 < H <= d)%N -> (0 < a)%N ->
  (2 * d + 1 < moment_count H)%N -> (moment_count H + 'C(moment_count H, 2) + 4 * d <= L)%N ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> K, G.@[fun k => w (enum_val k)] != 0 ->
      forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r, (H <= #|A|)%N -> (H <= #|~: A|)%N ->
        sep_le (side_output false (net_of w) A i p) r -> recalled e s d L < r%:R.
Proof.
move=> char0 ee ss Hd a0 Dd DL; apply: recalled_fails => //.
have d0 : (0 < d)%N by case/andP: Hd => H0 Hd; apply: leq_trans Hd.
rewrite violatesE; set D := moment_count H in Dd DL.
have kD : minn L D = D by apply/minn_idPr; lia.
have := @product_gt H L; rewrite -/D kD => /(_ _)/ltnW lt.
have {lt} : (3 ^ (L + 2 * d * L + 4 * d) <= product H L)%N.
  apply: leq_trans (lt _); last by lia.
  rewrite leq_exp2l //.
  have C2 : ('C(D, 2).*2 = D * D.-1)%N.
    by rewrite bin2 -[RHS]odd_double_half oddM; case: (D) => //= D'; rewrite andNb.
  have DL' : (D <= L)%N by lia.
  have : (D * (L - D) + 'C(D, 2) + (D + 'C(D, 2)) = D * L)%N.
    have : (D * D = D + 'C(D, 2).*2)%N by rewrite C2 -mulnS prednK //; lia.
    rewrite mulnBr => E; have : (D * D <= D * L)%N by rewrite leq_mul2l DL' orbT.
    lia.
  have : (L * (2 * d + 2) <= D * L)%N by rewrite mulnC leq_mul2r; apply/orP; right; lia.
  move=> h1 h2; have : (L * (2 * d + 2) = L + 2 * d * L + L)%N by lia.
  lia.
move=> le; apply: (@leq_trans (3 ^ (L + 2 * d * L + 4 * d) * 2 ^ d * d ^ (2 * d))%N); last first.
  by rewrite !leq_mul.
move: (L + 2 * d * L)%N => X.
rewrite mulnC expnD -!mulnA ltn_mul2l expn_gt0 /= (expnM 3 4 d) mulnA -expnMn.
rewrite (_ : 2 * d = 1 + (2 * d - 1))%N; last by lia.
rewrite expnD expn1 mulnCA ltn_mul2l d0 /=.
apply: (@leq_trans (162 ^ d)%N); first by rewrite ltn_exp2r.
by rewrite leq_pmulr // expn_gt0 d0.
Qed.

(* At d = 16 and H = 8, so with 36 moments, from depth 36 + 630 + 64 = 730 on; here at 730. *)
Example upper_bound_deep_fails_730 (R : rcfType) (e : R := 11%:R / 4%:R)
    (s : R := Num.sqrt 2%:R) :
  exists2 G : {mpoly rat[#|weight_name 730 8 1 16|]}, G != 0 &
    forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(8 + 8)) (p : 'I_16) r,
      sep_le (side_output false (net_of w) (first_half 8) i p) r -> recalled e s 16 730 < r%:R.
Proof.
have [HA HB] := first_half_sides 8; have [ee ss] := worst_case R.
have D : (moment_count 8 + 'C(moment_count 8, 2) + 4 * 16 <= 730)%N by rewrite bin2.
have [G G0 GE] := @upper_bound_deep_fails_on (rat : fieldType) R e s 730 8 1 16
  (char_num _) ee ss isT isT isT D.
exists G => // w nz i p r; exact: GE w nz _ i p _ r HA HB.
Qed.

(* --- no bound that is linear in d L ----------------------------------------------------------- *)

(* c d L for c = u / v, as a pair. *)
Definition linear_value (u v d L : N) : N * N := (u * d * L, v)%num.

Lemma linear_valueE (u v d L : nat) :
  linear_value (bin_of_nat u) (bin_of_nat v) (bin_of_nat d) (bin_of_nat L) =
  (bin_of_nat (u * d * L), bin_of_nat v).
Proof. by rewrite /linear_value !bin_of_natE; congr pair; lia. Qed.

(* With as many heads as the width d and at most d (d + 1) / 2 layers there is a polynomial in the
   weights, not zero, outside of whose zeros the separation rank r has the following property,
   whatever the tokens, the sides, the position and the coordinate, if each side has d tokens. For
   every positive c of any ordered field with 2 c d + 1 < L, the logarithm of r to base 3 exceeds
   c d L: there is a whole m above c d L with 3^m < r. And for c = u / v, r^v > 3^(u d L). *)
Theorem no_linear_bound (K : fieldType) (L a d : nat) : [char K] =i pred0 ->
  (0 < d)%N -> (0 < a)%N -> (L <= moment_count d)%N ->
  exists2 G : {mpoly K[#|weight_name L d a d|]}, G != 0 &
    forall w : weight_name L d a d -> K, G.@[fun k => w (enum_val k)] != 0 ->
      forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r, (d <= #|A|)%N -> (d <= #|~: A|)%N ->
        sep_le (side_output false (net_of w) A i p) r ->
        (forall (R : realFieldType) (c : R), 0 < c -> 2%:R * c * d%:R + 1 < L%:R ->
          exists2 m : nat, c * d%:R * L%:R < m%:R & (3 ^ m < r)%N) /\
        (forall u v : nat, (0 < v)%N -> (2 * u * d + v < v * L)%N ->
          let: (x, y) := linear_value (bin_of_nat u) (bin_of_nat v) (bin_of_nat d) (bin_of_nat L) in
          (3 ^ nat_of_bin x < r ^ nat_of_bin y)%N).
Proof.
move=> char0 d0 a0 LD; have dd : (0 < d <= d)%N by rewrite d0 leqnn.
have [G G0 GE] := product_lower_bound L char0 dd a0; exists G => // w nz n i p A r HA HB S.
have := GE w nz n i p A r HA HB S; rewrite product_valueE bin_of_natK => le.
have C2 : ('C(L, 2).*2 = L * L.-1)%N.
  by rewrite bin2 -[RHS]odd_double_half oddM; case: (L) => //= l; rewrite andNb.
have lt : (0 < L)%N -> (3 ^ 'C(L, 2) < r)%N.
  move=> L0; apply: leq_trans le; have /= := @product_gt d L.
  by rewrite !(minn_idPl LD) subnn muln0 addn0 => /(_ L0).
split=> [R c c0 cL|u v v0 uv].
  have L0 : (0 < L)%N.
    rewrite -(ltr_nat R); apply: le_lt_trans cL; rewrite addr_ge0 ?ler01 //.
    by rewrite !mulr_ge0 ?ler0n // ltW.
  exists 'C(L, 2); last exact: lt.
  rewrite -(ltr_pM2r (_ : 0 < 2%:R)) ?ltr0n // -natrM muln2 C2 natrM.
  have -> : c * d%:R * L%:R * 2%:R = L%:R * (2%:R * c * d%:R) by ring.
  rewrite ltr_pM2l ?ltr0n //.
  have -> : L.-1%:R = L%:R - 1 :> R by rewrite -[in RHS](prednK L0) -addn1 natrD addrK.
  by rewrite ltrBrDr.
rewrite linear_valueE !bin_of_natK.
have L0 : (0 < L)%N by move: uv; case: (L) => //; rewrite muln0.
apply: (@leq_ltn_trans (3 ^ ('C(L, 2) * v))%N); last by rewrite expnM ltn_exp2r // lt.
have h : (2 * u * d <= v * L.-1)%N by move: uv; rewrite -{1}(prednK L0) mulnS; lia.
rewrite leq_exp2l // -(leq_pmul2r (_ : 0 < 2)%N) // [X in (_ <= X)%N]mulnAC.
rewrite [('C(L, 2) * 2)%N]muln2 C2.
by have := leq_mul (leqnn L) h; move: L.-1 => l; lia.
Qed.

(* Claim: separation_rank/no_linear_bound. For almost all weights, that is, outside a null set,
   which is the same for every c, the logarithm of the separation rank to base 3 exceeds c d L. *)
Corollary no_linear_almost_all (K : archiFieldType) (L a d : nat) :
  (0 < d)%N -> (0 < a)%N -> (L <= moment_count d)%N ->
  almost_all (fun w : weight_name L d a d -> K =>
    forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r, (d <= #|A|)%N -> (d <= #|~: A|)%N ->
      sep_le (side_output false (net_of w) A i p) r ->
      (forall (R : realFieldType) (c : R), 0 < c -> 2%:R * c * d%:R + 1 < L%:R ->
        exists2 m : nat, c * d%:R * L%:R < m%:R & (3 ^ m < r)%N) /\
      (forall u v : nat, (0 < v)%N -> (2 * u * d + v < v * L)%N ->
        let: (x, y) := linear_value (bin_of_nat u) (bin_of_nat v) (bin_of_nat d) (bin_of_nat L) in
        (3 ^ nat_of_bin x < r ^ nat_of_bin y)%N)).
Proof.
move=> d0 a0 LD.
by have [] := almost_all_weights (@no_linear_bound K L a d (char_num _) d0 a0 LD).
Qed.

(* Six layers of width 3 and c = 2/3: c d L = 12, and 2 c d + 1 = 5 is less than 6. *)
Example no_linear_bound_3 : exists2 G : {mpoly rat[#|weight_name 6 3 1 3|]}, G != 0 &
  forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(3 + 3)) (p : 'I_3) r,
    sep_le (side_output false (net_of w) (first_half 3) i p) r ->
    (exists2 m : nat, (12 < m)%N & (3 ^ m < r)%N) /\ (3 ^ 36 < r ^ 3)%N.
Proof.
have [HA HB] := first_half_sides 3.
have [G G0 GE] := @no_linear_bound (rat : fieldType) 6 1 3 (char_num _) isT isT isT.
exists G => // w nz i p r S; have [real pair] := GE w nz _ i p _ r HA HB S; split.
  have [||m cm mr] := real _ (2%:R / 3%:R : rat).
  - by rewrite divr_gt0 ?ltr0n.
  - by rewrite -mulrA divfK ?pnatr_eq0 // -natrM -(natrD _ _ 1) ltr_nat.
  by exists m => //; move: cm; rewrite divfK ?pnatr_eq0 // -natrM ltr_nat.
exact: pair 2%N 3%N isT isT.
Qed.
Example no_linear_almost_all_3 (K : archiFieldType) :
  almost_all (fun w : weight_name 6 3 1 3 -> K => forall (i : 'I_(3 + 3)) (p : 'I_3) r,
    sep_le (side_output false (net_of w) (first_half 3) i p) r -> (3 ^ 36 < r ^ 3)%N).
Proof.
have [HA HB] := first_half_sides 3.
apply: almost_all_sub (@no_linear_almost_all K 6 1 3 isT isT isT) => w bound i p r S.
by have [_ pair] := bound _ i p _ r HA HB S; apply: pair 2%N 3%N isT isT.
Qed.

(* The hypotheses can be met: rational weights, three layers of two heads on two coordinates, four
   tokens, two on either side. The rank is at least (9 + 1)(3 + 1)(1 + 1). *)
Example product_value_3 : product_value 2 3 = 80%num.
Proof. by []. Qed.

Example product_example (A : {set 'I_4} := [set 0; 1]) :
  exists w : weight_name 3 2 1 2 -> rat, forall r,
    sep_le (side_output false (net_of w) A 0 0) r -> (80 <= r)%N.
Proof.
exists (@block_weights (rat : fieldType) 3 2 1 2 0 0 (leqnn 2) 0) => r S.
have A2 : #|A| = 2%N by rewrite cards2.
have B2 : #|~: A| = 2%N by have := cardsC A; rewrite A2 card_ord => /eqP; rewrite eqn_add2l => /eqP.
have P : product 2 3 = 80%N.
  by have := product_valueE 2 3 => /(congr1 nat_of_bin); rewrite bin_of_natK => <-.
by rewrite -P; apply: product_explicit S; rewrite ?A2 ?B2 //; apply: char_num.
Qed.

(* A number e and a root of 2 as in the refutation, in every real closed field. *)
Example recalled_example (R : rcfType) : exists e s : R, 0 < e <= 11%:R / 4%:R /\ s ^+ 2 = 2%:R.
Proof.
exists (11%:R / 4%:R), (Num.sqrt 2%:R); rewrite lexx andbT sqr_sqrtr ?ler0n //.
by rewrite divr_gt0 ?ltr0n.
Qed.
