(* Rank collapse of softmax attention, over Coq's real numbers with their exponential.

   Claims: rank_collapse/softmax_perturbation, rank_collapse/one_layer_cubic,
   rank_collapse/layers_product (theory/rank_collapse/softmax_perturbation.py, cubic_law.py,
   deep_layers.py) and rank_collapse/dot_product_not_lipschitz (attention_lipschitz.py).

   Tokens, weights and biases are any real matrices; a layer has any number of heads. The nets are
   transformers (Bridges.softmax_transformer). Theorems rest
   on the three axioms of Coq's real numbers and on nothing else. *)

From Coq Require Import NArith ZArith Reals Lra Lia.
From HB Require Import structures.
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

Lemma addRA : associative Rplus. Proof. by move=> x y z; ring. Qed.
Lemma mulRA : associative Rmult. Proof. by move=> x y z; ring. Qed.
HB.instance Definition _ := Monoid.isComLaw.Build R 0 Rplus addRA Rplus_comm Rplus_0_l.
HB.instance Definition _ := Monoid.isComLaw.Build R 1 Rmult mulRA Rmult_comm Rmult_1_l.
HB.instance Definition _ := Monoid.isMulLaw.Build R 0 Rmult Rmult_0_l Rmult_0_r.
HB.instance Definition _ :=
  Monoid.isAddLaw.Build R Rmult Rplus Rmult_plus_distr_r Rmult_plus_distr_l.

Local Notation "\sum_ ( i < n ) F" := (\big[Rplus/0]_(i < n) F) : R_scope.
Local Notation "\prod_ ( i < n ) F" := (\big[Rmult/1]_(i < n) F) : R_scope.
Local Notation "\max_ ( i < n ) F" := (\big[Rmax/0]_(i < n) F) : R_scope.

(* --- the objects --- *)

(* Matrices, rows first. Largest entries are taken of numbers that are at least 0. *)
Definition mat (n d : nat) := 'I_n -> 'I_d -> R.

Definition mul n m d (A : mat n m) (B : mat m d) : mat n d :=
  fun i k => \sum_(j < m) A i j * B j k.
Definition tr n d (A : mat n d) : mat d n := fun k i => A i k.

Definition softmax n (a : 'I_n -> R) : 'I_n -> R := fun j => exp (a j) / \sum_(m < n) exp (a m).

(* The largest difference of two entries of a row. *)
Definition range n (a : 'I_n -> R) : R := \max_(j < n) \max_(k < n) (a j - a k).

(* |A|_1, |A|_inf and the composite norm. *)
Definition column_norm n d (A : mat n d) : R := \max_(k < d) \sum_(i < n) Rabs (A i k).
Definition row_norm n d (A : mat n d) : R := \max_(i < n) \sum_(k < d) Rabs (A i k).
Definition norm n d (A : mat n d) : R := sqrt (column_norm A * row_norm A).

(* The tokens minus a centre. *)
Definition about n d (X : mat n d) (c : 'I_d -> R) : mat n d := fun i k => X i k - c k.

(* |D 1|_1 and |D 1|_inf, D the row ranges of logits E; their shares g and g' in 2 |E|_1; gamma. *)
Definition total_range n (E : mat n n) : R := \sum_(i < n) range (E i).
Definition widest n (E : mat n n) : R := \max_(i < n) range (E i).
Definition column_share n (E : mat n n) : R := total_range E / (2 * column_norm E).
Definition row_share n (E : mat n n) : R := widest E / (2 * column_norm E).
Definition gamma n (E : mat n n) : R := sqrt (total_range E * widest E) / (2 * column_norm E).

(* One head: W_Q W_K^T, W_K b_Q, and W_V W_O^T. *)
Record head d := Head { qk : mat d d; bias : 'I_d -> R; value : mat d d }.

(* The logits of tokens X, and the part E of them that differs between rows, from tokens Y about
   their centre; w is the query/key width. *)
Definition logits n d (w : nat) (h : head d) (X : mat n d) : mat n n :=
  fun i j => (mul (mul X (qk h)) (tr X) i j + \sum_(k < d) X j k * bias h k) / sqrt (INR w).
Definition perturbation n d (w : nat) (h : head d) (Y : mat n d) : mat n n :=
  fun i j => mul (mul Y (qk h)) (tr Y) i j / sqrt (INR w).

(* A layer: the sum over its heads of softmax(logits) X W_V. *)
Definition attention n d (w : nat) H (heads : 'I_H -> head d) (X : mat n d) : mat n d :=
  fun i k => \sum_(h < H)
    mul (mul (fun i => softmax (logits w (heads h) X i)) X) (value (heads h)) i k.

(* k_l of a layer: sqrt(sum_h g_h a_h sum_h g'_h b_h) / sqrt(w), with a_h = |W_QK|_1 |W_V|_1 and
   b_h = |W_QK|_1 |W_V|_inf. *)
Definition head_sum n d (w : nat) H (heads : 'I_H -> head d) (Y : mat n d) : R :=
  let E h := perturbation w (heads h) Y in
  let a h := column_norm (qk (heads h)) * column_norm (value (heads h)) in
  let b h := column_norm (qk (heads h)) * row_norm (value (heads h)) in
  sqrt ((\sum_(h < H) column_share (E h) * a h) * (\sum_(h < H) row_share (E h) * b h)) /
  sqrt (INR w).

(* A centre about which the composite norm is least: the residual is that norm. *)
Definition best_centre n d (X : mat n d) (c : 'I_d -> R) : Prop :=
  forall c', norm (about X c) <= norm (about X c').

(* The tokens after L layers of attention alone. *)
Fixpoint net n d (w : nat) (H : nat -> nat) (heads : forall l, 'I_(H l) -> head d) (X : mat n d)
    (L : nat) : mat n d :=
  if L is l.+1 then attention w (heads l) (net w heads X l) else X.

(* 4 |W_QK|_1 |W_V| / sqrt(w) r^3. *)
Definition cubic_bound (q v : R) (w : nat) (r : R) : R := 4 * q * v / sqrt (INR w) * r ^ 3.

(* --- sums and maxima --- *)

Lemma sum_le n (f g : 'I_n -> R) :
  (forall i, f i <= g i) -> \sum_(i < n) f i <= \sum_(i < n) g i.
Proof. by move=> le; apply: (big_ind2 Rle) => //; [lra | move=> *; lra]. Qed.

Lemma sum_ge0 n (f : 'I_n -> R) : (forall i, 0 <= f i) -> 0 <= \sum_(i < n) f i.
Proof. by move=> f0; apply: (big_ind (Rle 0)) => //; [lra | move=> *; lra]. Qed.

Lemma sum_rest n (f : 'I_n -> R) i :
  (forall i, 0 <= f i) -> 0 <= \big[Rplus/0]_(j < n | j != i) f j.
Proof. by move=> f0; apply: (big_ind (Rle 0)) => [|x y ? ?|j _]; [lra | lra | apply: f0]. Qed.

Lemma le_sum n (f : 'I_n -> R) i : (forall i, 0 <= f i) -> f i <= \sum_(i < n) f i.
Proof.
move=> f0; rewrite (bigD1 i) //= -{1}[f i]Rplus_0_r; apply: Rplus_le_compat_l.
exact: sum_rest.
Qed.

Lemma sum_gt0 n (f : 'I_n -> R) (i : 'I_n) : (forall i, 0 < f i) -> 0 < \sum_(i < n) f i.
Proof. by move=> f0; apply: Rlt_le_trans (f0 i) _; apply: le_sum => j; apply: Rlt_le. Qed.

Lemma abs_sum n (f : 'I_n -> R) : Rabs (\sum_(i < n) f i) <= \sum_(i < n) Rabs (f i).
Proof.
apply: (big_ind2 (fun x y => Rabs x <= y)) => [|x1 x2 y1 y2 *|i _]; last lra.
  by rewrite Rabs_R0; lra.
by apply: Rle_trans (Rabs_triang _ _) _; lra.
Qed.

Lemma sum_scale n (a : R) (f : 'I_n -> R) : a * (\sum_(i < n) f i) = \sum_(i < n) a * f i.
Proof. exact: big_distrr. Qed.

Lemma scale_sum n (a : R) (f : 'I_n -> R) : \sum_(i < n) f i * a = (\sum_(i < n) f i) * a.
Proof. by symmetry; apply: big_distrl. Qed.

Lemma sum_add n (f g : 'I_n -> R) :
  \sum_(i < n) (f i + g i) = \sum_(i < n) f i + \sum_(i < n) g i.
Proof. exact: big_split. Qed.

Lemma sum_exchange n m (f : 'I_n -> 'I_m -> R) :
  \sum_(i < n) \sum_(j < m) f i j = \sum_(j < m) \sum_(i < n) f i j.
Proof. exact: exchange_big. Qed.

Lemma max_ge n (f : 'I_n -> R) i : f i <= \max_(i < n) f i.
Proof.
have : i \in index_enum ((fintype_ordinal__canonical__fintype_Finite n)) by rewrite mem_index_enum.
elim: (index_enum _) => //= j s IH; rewrite big_cons inE => /predU1P[->|/IH le].
  exact: Rmax_l.
by apply: Rle_trans le _; apply: Rmax_r.
Qed.

Lemma max_le n (f : 'I_n -> R) b : 0 <= b -> (forall i, f i <= b) -> \max_(i < n) f i <= b.
Proof. by move=> b0 le; apply: (big_ind (fun x => x <= b)) => // *; apply: Rmax_lub. Qed.

Lemma max_ge0 n (f : 'I_n -> R) : 0 <= \max_(i < n) f i.
Proof.
elim: (index_enum _) => [|j s IH]; rewrite ?big_nil ?big_cons; first lra.
exact: Rle_trans IH (Rmax_r _ _).
Qed.

(* --- norms --- *)

Lemma column_norm_ge0 n d (A : mat n d) : 0 <= column_norm A. Proof. exact: max_ge0. Qed.
Lemma row_norm_ge0 n d (A : mat n d) : 0 <= row_norm A. Proof. exact: max_ge0. Qed.
Lemma norm_ge0 n d (A : mat n d) : 0 <= norm A. Proof. exact: sqrt_pos. Qed.
Lemma range_ge0 n (a : 'I_n -> R) : 0 <= range a. Proof. exact: max_ge0. Qed.

Lemma range_ge n (a : 'I_n -> R) j k : a j - a k <= range a.
Proof.
apply: Rle_trans (max_ge (fun j => \max_(k < n) (a j - a k)) j).
exact: (max_ge (fun k => a j - a k) k).
Qed.

Lemma range_le n (a : 'I_n -> R) b : 0 <= b -> (forall j k, a j - a k <= b) -> range a <= b.
Proof. by move=> b0 le; do 2!(apply: max_le => // ?). Qed.

Lemma column_norm_ge n d (A : mat n d) k : \sum_(i < n) Rabs (A i k) <= column_norm A.
Proof. exact: (max_ge (fun k => \sum_(i < n) Rabs (A i k))). Qed.

Lemma row_norm_ge n d (A : mat n d) i : \sum_(k < d) Rabs (A i k) <= row_norm A.
Proof. exact: (max_ge (fun i => \sum_(k < d) Rabs (A i k))). Qed.

Lemma row_norm_tr n d (A : mat n d) : row_norm A = column_norm (tr A). Proof. by []. Qed.

Lemma tr_mul n m d (A : mat n m) (B : mat m d) k i : tr (mul A B) k i = mul (tr B) (tr A) k i.
Proof. by apply: eq_bigr => j _; apply: Rmult_comm. Qed.

Lemma column_norm_eq n d (A B : mat n d) :
  (forall i k, A i k = B i k) -> column_norm A = column_norm B.
Proof. by move=> eqAB; apply: eq_bigr => k _; apply: eq_bigr => i _; rewrite eqAB. Qed.

Lemma column_norm_mul n m d (A : mat n m) (B : mat m d) :
  column_norm (mul A B) <= column_norm A * column_norm B.
Proof.
have [A0 B0] := (column_norm_ge0 A, column_norm_ge0 B).
apply: max_le => [|k]; first by nra.
apply: (@Rle_trans _ (\sum_(i < n) \sum_(j < m) Rabs (A i j) * Rabs (B j k))).
  apply: sum_le => i; apply: Rle_trans (abs_sum _) _.
  by apply: sum_le => j; rewrite Rabs_mult; lra.
rewrite sum_exchange.
apply: (@Rle_trans _ (\sum_(j < m) column_norm A * Rabs (B j k))).
  apply: sum_le => j; rewrite scale_sum.
  by apply: Rmult_le_compat_r (Rabs_pos _) (column_norm_ge A j).
by rewrite -sum_scale; apply: Rmult_le_compat_l A0 (column_norm_ge B k).
Qed.

Lemma row_norm_mul n m d (A : mat n m) (B : mat m d) :
  row_norm (mul A B) <= row_norm A * row_norm B.
Proof.
rewrite !row_norm_tr (column_norm_eq (tr_mul A B)) Rmult_comm; exact: column_norm_mul.
Qed.

Lemma norm_square n d (A : mat n d) : norm A * norm A = column_norm A * row_norm A.
Proof.
by apply: sqrt_sqrt; apply: Rmult_le_pos; [apply: column_norm_ge0 | apply: row_norm_ge0].
Qed.

Lemma norm_mul n m d (A : mat n m) (B : mat m d) : norm (mul A B) <= norm A * norm B.
Proof.
have [cA cB] := (column_norm_ge0 A, column_norm_ge0 B).
have [rA rB] := (row_norm_ge0 A, row_norm_ge0 B).
rewrite /norm -sqrt_mult; try exact: Rmult_le_pos.
apply: sqrt_le_1_alt.
have -> : column_norm A * row_norm A * (column_norm B * row_norm B) =
  (column_norm A * column_norm B) * (row_norm A * row_norm B) by ring.
apply: Rmult_le_compat; [exact: column_norm_ge0 | exact: row_norm_ge0 | exact: column_norm_mul |].
exact: row_norm_mul.
Qed.
(* --- the exponential --- *)

(* The power series, in whose place exp_ineq1 would rest on the excluded middle as well. *)
Lemma exp_series x : Un_cv (sum_f_R0 (fun i => / INR (fact i) * x ^ i)) (exp x).
Proof. by rewrite /exp; case: (exist_exp x). Qed.

Lemma exp_ge1_pos y : 0 <= y -> 1 + y <= exp y.
Proof.
move=> y0; have pos i : 0 <= / INR (fact i) * y ^ i.
  apply: Rmult_le_pos; last exact: pow_le.
  exact/Rlt_le/Rinv_0_lt_compat/INR_fact_lt_0.
have := sum_incr _ 1 (exp y) (exp_series y) pos.
by rewrite /= Rinv_1; lra.
Qed.

Lemma geometric_ge y n : 0 <= y ->
  (1 - y) * sum_f_R0 (fun i => / INR (fact i) * y ^ i) n <= 1 - y ^ n.+1 \/ 1 <= y.
Proof.
move=> y0; have [y1|y1] := Rle_or_lt 1 y; [by right | left].
elim: n => [|n IH]; first by rewrite /= Rinv_1; lra.
rewrite tech5 Rmult_plus_distr_l.
have small : / INR (fact n.+1) * y ^ n.+1 <= y ^ n.+1.
  rewrite -[X in _ <= X]Rmult_1_l; apply: Rmult_le_compat_r; first exact: pow_le.
  rewrite -Rinv_1; apply: Rinv_le_contravar; first lra.
  by apply: (le_INR 1); apply: lt_O_fact.
have := Rmult_le_compat_l (1 - y) _ _ ltac:(lra) small.
by rewrite -[y ^ n.+2]/(y * y ^ n.+1); lra.
Qed.

Lemma exp_le_inverse y : 0 <= y < 1 -> (1 - y) * exp y <= 1.
Proof.
move=> [y0 y1]; apply: Rnot_lt_le => big.
have gap : 0 < exp y - 1 / (1 - y).
  apply: (Rmult_lt_reg_l (1 - y)); first lra.
  by rewrite Rmult_0_r Rmult_minus_distr_l /Rdiv Rmult_1_l Rinv_r; lra.
have [N near] := exp_series y gap; have := near N (le_n N).
have [le_N|] := geometric_ge N y0; last lra.
move=> /Rabs_def2[_ lo]; have pN := pow_le y N.+1 y0.
set S := sum_f_R0 _ N in le_N lo.
have : 1 / (1 - y) < S by lra.
move=> /(Rmult_lt_compat_l (1 - y) _ _ ltac:(lra)).
by rewrite /Rdiv Rmult_1_l Rinv_r; lra.
Qed.

Lemma exp_ge1 x : 1 + x <= exp x.
Proof.
have [x0|x0] := Rle_or_lt 0 x; first exact: exp_ge1_pos.
have := exp_pos x; have [x1|x1] := Rle_or_lt x (-1); first lra.
have := @exp_le_inverse (- x) ltac:(lra); rewrite exp_Ropp => le e0.
have := Rmult_le_compat_r (exp x) _ _ (Rlt_le _ _ e0) le.
by rewrite Rmult_assoc Rinv_l; lra.
Qed.

Lemma exp_mono x y : x <= y -> exp x <= exp y.
Proof.
move=> xy; have -> : y = x + (y - x) by ring.
rewrite exp_plus -{1}[exp x]Rmult_1_r; apply: Rmult_le_compat_l; first exact/Rlt_le/exp_pos.
by have := exp_ge1 (y - x); lra.
Qed.

(* Lower bounds of exp in units of 10^-12: the square of one, rounded down, is one at twice the
   argument. *)
Definition square_down (c : Z) : Z := (c * c / 10 ^ 12)%Z.
Definition below_exp (c : Z) (x : R) : Prop := (0 <= c)%Z /\ IZR c <= 10 ^ 12 * exp x.

Lemma below_exp_double c x : below_exp c x -> below_exp (square_down c) (2 * x).
Proof.
move=> [c0 le_c]; rewrite /square_down; split.
  by apply: Z.div_pos; [apply: Z.mul_nonneg_nonneg | apply: Z.pow_pos_nonneg].
have := IZR_le _ _ (Z.mul_div_le (c * c) (10 ^ 12) ltac:(by [])).
rewrite mult_IZR mult_IZR -[IZR (10 ^ 12)]/(IZR 1000000000000).
have -> : exp (2 * x) = exp x * exp x by rewrite -exp_plus; congr exp; ring.
have := IZR_le _ _ c0; have := exp_pos x; move: le_c.
by move: (IZR c) (IZR (_ / _)) (exp x) => p q e; nra.
Qed.

Lemma below_exp_iter k c x : below_exp c x -> below_exp (iter k square_down c) (2 ^ k * x).
Proof.
elim: k => [|k IH] start; first by rewrite /= Rmult_1_l.
by have -> : 2 ^ k.+1 * x = 2 * (2 ^ k * x); [rewrite /=; ring | apply/below_exp_double/IH].
Qed.

(* e^1.256 < 3.512 = 1 + 2 * 1.256. *)
Lemma exp_1256 : exp (157 / 125) <= 439 / 125.
Proof.
have [|_] := @below_exp_iter 16 999980834960 (- (157 / 125) / 2 ^ 16).
  by split=> //; have := exp_ge1 (- (157 / 125) / 2 ^ 16); lra.
have -> : 2 ^ 16 * (- (157 / 125) / 2 ^ 16) = - (157 / 125) by field.
set c := iter _ _ _; have {c}-> : c = 284787463375%Z by vm_compute.
rewrite exp_Ropp; have := exp_pos (157 / 125); move: (exp _) => e e0 le_c.
have := Rmult_le_compat_r e _ _ (Rlt_le _ _ e0) le_c.
by rewrite Rmult_assoc Rinv_l; lra.
Qed.

(* The chord of exp lies above it. *)
Lemma exp_chord a x : 0 < a -> 0 <= x <= a -> a * exp x <= a + x * (exp a - 1).
Proof.
move=> a0 [x0 xa]; have := exp_ge1 (- x); have := exp_ge1 (a - x).
have -> : exp (a - x) = exp a * exp (- x) by rewrite -exp_plus; congr exp; ring.
rewrite exp_Ropp; have e0 := exp_pos x; have e1 : exp x * / exp x = 1 by apply: Rinv_r; lra.
move: (exp x) (exp a) (/ exp x) e0 e1 => e b r e0 er le_a le_0.
have := Rmult_le_compat_l e _ _ (Rlt_le _ _ e0) le_a.
have -> : e * (b * r) = b by rewrite [b * r]Rmult_comm -Rmult_assoc er Rmult_1_l.
have := Rmult_le_compat_l e _ _ (Rlt_le _ _ e0) le_0; rewrite er => at_0 at_a.
have := Rmult_le_compat_l x _ _ x0 at_a.
have := Rmult_le_compat_l (a - x) _ _ ltac:(lra) at_0.
have -> : x * (e * (1 + (a - x))) = a * e - (a - x) * (e * (1 + - x)) by ring.
lra.
Qed.

Lemma exp_below_line x : 0 <= x <= 157 / 125 -> exp x <= 1 + 2 * x.
Proof.
move=> x_in; have := @exp_chord (157 / 125) x ltac:(lra) x_in; have := exp_1256; nra.
Qed.

(* --- the softmax perturbation lemma --- *)

Section Perturbation.

Variables (n : nat) (a E : 'I_n -> R).
Let b j := a j - E j.

Lemma exp_sum_gt0 (f : 'I_n -> R) : 'I_n -> 0 < \sum_(m < n) exp (f m).
Proof. by move=> j; apply: sum_gt0 j _ => m; apply: exp_pos. Qed.

Lemma softmax_pos (f : 'I_n -> R) j : 0 < softmax f j.
Proof. by apply: Rdiv_lt_0_compat; [apply: exp_pos | apply: exp_sum_gt0 j]. Qed.

Lemma softmax_sum (f : 'I_n -> R) : 'I_n -> \sum_(j < n) softmax f j = 1.
Proof. by move=> j; rewrite scale_sum Rinv_r //; have := exp_sum_gt0 f j; lra. Qed.

(* The ratio of the weights lies between e^-D and e^D. *)
Lemma softmax_ratio j :
  exp (- range E) * softmax b j <= softmax a j <= exp (range E) * softmax b j.
Proof.
have [sa0 sb0] := (exp_sum_gt0 a j, exp_sum_gt0 b j).
suff [lo hi] : exp (- range E) * exp (b j) * (\sum_(m < n) exp (a m)) <=
    exp (a j) * (\sum_(m < n) exp (b m)) <=
    exp (range E) * exp (b j) * (\sum_(m < n) exp (a m)).
  rewrite /softmax; move: (\sum_(m < n) exp (a m)) (\sum_(m < n) exp (b m)) sa0 sb0 lo hi.
  move=> sa sb sa0 sb0 lo hi; split.
    apply: (Rmult_le_reg_r (sa * sb)); first exact: Rmult_lt_0_compat.
    by field_simplify; lra.
  apply: (Rmult_le_reg_r (sa * sb)); first exact: Rmult_lt_0_compat.
  by field_simplify; lra.
rewrite !sum_scale; split; apply: sum_le => m; rewrite -!exp_plus; apply: exp_mono.
  by have := range_ge E m j; rewrite /b; lra.
by have := range_ge E j m; rewrite /b; lra.
Qed.

Lemma softmax_lower j : (1 - range E) * softmax b j <= softmax a j.
Proof.
have [lo _] := softmax_ratio j; apply: Rle_trans lo.
apply: Rmult_le_compat_r; first exact: Rlt_le (softmax_pos b j).
by have := exp_ge1 (- range E); lra.
Qed.

Lemma softmax_upper j : range E <= 157 / 125 -> softmax a j <= (1 + 2 * range E) * softmax b j.
Proof.
move=> small; have [_ hi] := softmax_ratio j; apply: Rle_trans hi _.
apply: Rmult_le_compat_r; first exact: Rlt_le (softmax_pos b j).
by apply: exp_below_line; split=> //; apply: range_ge0.
Qed.

Lemma softmax_near j :
  range E <= 157 / 125 -> Rabs (softmax a j - softmax b j) <= 2 * range E * softmax b j.
Proof.
move=> small; have := softmax_lower j; have := softmax_upper j small; have := softmax_pos b j.
have := range_ge0 E; move: (softmax a j) (softmax b j) (range E) => p q D D0 q0 hi lo.
by apply: Rabs_le; split; nra.
Qed.

End Perturbation.
(* --- ranges and norms of logits --- *)

Lemma abs_le_column n d (A : mat n d) i k : Rabs (A i k) <= column_norm A.
Proof.
apply: Rle_trans (column_norm_ge A k).
exact: (le_sum (f := fun i => Rabs (A i k)) i (fun j => Rabs_pos _)).
Qed.

Lemma abs_le_row n d (A : mat n d) i k : Rabs (A i k) <= row_norm A.
Proof.
apply: Rle_trans (row_norm_ge A i).
exact: (le_sum (f := fun k => Rabs (A i k)) k (fun j => Rabs_pos _)).
Qed.

Lemma range_column n (E : mat n n) i : range (E i) <= 2 * column_norm E.
Proof.
have E0 := column_norm_ge0 E; apply: range_le => [|j k]; first lra.
have := abs_le_column E i j; have := abs_le_column E i k.
by rewrite /Rabs; do 2!case: Rcase_abs; lra.
Qed.

Lemma total_ge0 n (E : mat n n) : 0 <= total_range E.
Proof. by apply: sum_ge0 => i; apply: range_ge0. Qed.

Lemma widest_ge0 n (E : mat n n) : 0 <= widest E. Proof. exact: max_ge0. Qed.

Lemma widest_ge n (E : mat n n) i : range (E i) <= widest E.
Proof. exact: (max_ge (fun i => range (E i))). Qed.

Lemma widest_column n (E : mat n n) : widest E <= 2 * column_norm E.
Proof.
by apply: max_le => [|i]; [have := column_norm_ge0 E; lra | apply: range_column].
Qed.

Lemma total_column0 n (E : mat n n) : column_norm E = 0 -> total_range E = 0.
Proof.
move=> E0; rewrite /total_range big1 // => i _.
by have := range_column E i; have := range_ge0 (E i); rewrite E0 Rmult_0_r; lra.
Qed.

(* g and g' are the shares of the two norms of D 1 in 2 |E|_1, whatever E. *)
Lemma total_share n (E : mat n n) : total_range E = column_share E * (2 * column_norm E).
Proof.
rewrite /column_share; have [E0|E0] := Req_dec (column_norm E) 0; last by field.
by rewrite E0 total_column0 // !Rmult_0_r.
Qed.

Lemma widest_share n (E : mat n n) : widest E = row_share E * (2 * column_norm E).
Proof.
rewrite /row_share; have [E0|E0] := Req_dec (column_norm E) 0; last by field.
by have := widest_column E; have := widest_ge0 E; rewrite E0 !Rmult_0_r; lra.
Qed.

Lemma gamma_ranges n (E : mat n n) : 
  sqrt (total_range E * widest E) = gamma E * (2 * column_norm E).
Proof.
rewrite /gamma; have [E0|E0] := Req_dec (column_norm E) 0; last by field.
by rewrite E0 total_column0 // Rmult_0_l sqrt_0 !Rmult_0_r.
Qed.

Lemma share_ge0 x n (E : mat n n) : 0 <= x -> 0 <= x / (2 * column_norm E).
Proof.
move=> x0; have [E0|E0] := Req_dec (column_norm E) 0; last first.
  apply: Rmult_le_pos x0 (Rlt_le _ _ (Rinv_0_lt_compat _ _)).
  by have := column_norm_ge0 E; lra.
by rewrite E0 Rmult_0_r /Rdiv Rinv_0 Rmult_0_r; lra.
Qed.

Lemma column_norm_div n d (A : mat n d) s :
  0 < s -> column_norm (fun i k => A i k / s) <= column_norm A / s.
Proof.
move=> s0; have i0 : 0 <= / s by apply/Rlt_le/Rinv_0_lt_compat.
apply: max_le => [|k]; first by apply: Rmult_le_pos (column_norm_ge0 A) i0.
have -> : \sum_(i < n) Rabs (A i k / s) = (\sum_(i < n) Rabs (A i k)) * / s.
  by rewrite -scale_sum; apply: eq_bigr => i _; rewrite Rabs_mult (Rabs_pos_eq _ i0).
exact: Rmult_le_compat_r i0 (column_norm_ge A k).
Qed.

Section Logits.

Variables (n d w : nat).
Hypothesis w0 : (0 < w)%N.

Lemma root_gt0 : 0 < sqrt (INR w).
Proof. by apply: sqrt_lt_R0; apply: lt_0_INR; apply/ltP. Qed.

Lemma perturbation_norm (h : head d) (Y : mat n d) :
  column_norm (perturbation w h Y) <= column_norm (qk h) * norm Y ^ 2 / sqrt (INR w).
Proof.
apply: Rle_trans (column_norm_div _ root_gt0) _.
apply: Rmult_le_compat_r; first exact/Rlt_le/Rinv_0_lt_compat/root_gt0.
apply: Rle_trans (column_norm_mul _ _) _.
have -> : column_norm (qk h) * norm Y ^ 2 =
  column_norm Y * column_norm (qk h) * column_norm (tr (tr (tr Y))).
  rewrite /= Rmult_1_r norm_square row_norm_tr -[tr (tr (tr Y))]/(tr Y); ring.
apply: Rmult_le_compat_r; [exact: column_norm_ge0 | exact: column_norm_mul].
Qed.

End Logits.
(* --- one layer --- *)

Lemma softmax_ext n (a b : 'I_n -> R) j : (forall k, a k = b k) -> softmax a j = softmax b j.
Proof.
by move=> eqab; rewrite /softmax eqab; congr (_ / _); apply: eq_bigr => k _; rewrite eqab.
Qed.

(* What is the same for all entries of a row drops out. *)
Lemma softmax_shift n (a : 'I_n -> R) (t : R) j : softmax (fun k => a k + t) j = softmax a j.
Proof.
rewrite /softmax; have -> : \sum_(m < n) exp (a m + t) = (\sum_(m < n) exp (a m)) * exp t.
  by rewrite -scale_sum; apply: eq_bigr => m _; rewrite exp_plus.
by rewrite exp_plus; field; split; apply: Rgt_not_eq; [exact: exp_sum_gt0 j | exact: exp_pos].
Qed.

Lemma softmax_sum_le1 n (a : 'I_n -> R) : \sum_(j < n) softmax a j <= 1.
Proof.
case: n a => [|n] a; first by rewrite big_ord0; lra.
by rewrite (softmax_sum a ord0); lra.
Qed.

Lemma sum_eq n (f g : 'I_n -> R) : (forall i, f i = g i) -> \sum_(i < n) f i = \sum_(i < n) g i.
Proof. by move=> eqfg; apply: eq_bigr. Qed.

Lemma sum_sub n (f g : 'I_n -> R) :
  \sum_(i < n) (f i - g i) = \sum_(i < n) f i - \sum_(i < n) g i.
Proof.
have -> : \sum_(i < n) f i = \sum_(i < n) (f i - g i) + \sum_(i < n) g i.
  by rewrite -sum_add; apply: sum_eq => i; ring.
ring.
Qed.

Section Layer.

Variables (n d w H : nat) (heads : 'I_H -> head d) (X : mat n d) (c : 'I_d -> R).
Let Y := about X c.
Let E h := perturbation w (heads h) Y.
Let W h := value (heads h).

(* The logits that all rows share, and their softmax. *)
Definition shared_logits h : 'I_n -> R := fun j =>
  (\sum_(l < d) (\sum_(k < d) c k * qk (heads h) k l) * Y j l +
   \sum_(k < d) X j k * bias (heads h) k) / sqrt (INR w).
Let q h := softmax (shared_logits h).
Let P h i := softmax (logits w (heads h) X i).

Lemma logits_split h i : exists t, forall j,
  logits w (heads h) X i j = E h i j + shared_logits h j + t.
Proof.
pose XW l := \sum_(k < d) X i k * qk (heads h) k l.
exists ((\sum_(l < d) XW l * c l) / sqrt (INR w)) => j.
have XWE l : XW l = \sum_(k < d) Y i k * qk (heads h) k l + \sum_(k < d) c k * qk (heads h) k l.
  by rewrite -sum_add; apply: sum_eq => k; rewrite /Y /about; ring.
rewrite /logits /E /perturbation /shared_logits {1}/mul /tr.
have -> : \sum_(l < d) mul X (qk (heads h)) i l * X j l =
    \sum_(l < d) (\sum_(k < d) Y i k * qk (heads h) k l) * Y j l +
    \sum_(l < d) (\sum_(k < d) c k * qk (heads h) k l) * Y j l + \sum_(l < d) XW l * c l.
  rewrite -!sum_add; apply: sum_eq => l.
  by rewrite -[mul X _ i l]/(XW l) -Rmult_plus_distr_r -XWE /Y /about; ring.
rewrite -[mul (mul Y _) _ i j]/(\sum_(l < d) (\sum_(k < d) Y i k * qk (heads h) k l) * Y j l).
by rewrite /Rdiv; ring.
Qed.

Hypothesis small : forall h i, range (E h i) <= 157 / 125.

Lemma attention_near h i j : Rabs (P h i j - q h j) <= 2 * range (E h i) * q h j.
Proof.
have [t split_i] := logits_split h i.
have -> : P h i j = softmax (fun k => E h i k + shared_logits h k) j.
  by rewrite -(softmax_shift _ t); apply: softmax_ext.
have -> : q h j = softmax (fun k => E h i k + shared_logits h k - E h i k) j.
  by apply: softmax_ext => k; ring.
exact: softmax_near (small h i).
Qed.

(* The centre of the output. *)
Definition next_centre : 'I_d -> R := fun k =>
  \sum_(h < H) \sum_(l < d) (\sum_(j < n) q h j * X j l) * W h l k.
Let Z := about (attention w heads X) next_centre.
Let y h l := \sum_(j < n) q h j * Rabs (Y j l).

Lemma q_ge0 h j : 0 <= q h j. Proof. exact/Rlt_le/softmax_pos. Qed.

Lemma y_ge0 h l : 0 <= y h l.
Proof. by apply: sum_ge0 => j; apply: Rmult_le_pos (q_ge0 h j) (Rabs_pos _). Qed.

Lemma y_column h l : y h l <= column_norm Y.
Proof.
apply: (@Rle_trans _ (\sum_(j < n) q h j * column_norm Y)).
  by apply: sum_le => j; apply: Rmult_le_compat_l (q_ge0 h j) (abs_le_column Y j l).
rewrite scale_sum -[X in _ <= X]Rmult_1_l.
exact: Rmult_le_compat_r (column_norm_ge0 Y) (softmax_sum_le1 _).
Qed.

Lemma y_row h : \sum_(l < d) y h l <= row_norm Y.
Proof.
rewrite sum_exchange; apply: (@Rle_trans _ (\sum_(j < n) q h j * row_norm Y)).
  apply: sum_le => j; rewrite -sum_scale.
  by apply: Rmult_le_compat_l (q_ge0 h j) (row_norm_ge Y j).
rewrite scale_sum -[X in _ <= X]Rmult_1_l.
exact: Rmult_le_compat_r (row_norm_ge0 Y) (softmax_sum_le1 _).
Qed.

Lemma moved h i l : \sum_(j < n) P h i j * X j l - \sum_(j < n) q h j * X j l =
  \sum_(j < n) (P h i j - q h j) * Y j l.
Proof.
have := softmax_sum (logits w (heads h) X i) i; rewrite -[softmax _]/(P h i).
have := softmax_sum (shared_logits h) i; rewrite -[softmax _]/(q h) => sumq sumP.
have -> : \sum_(j < n) (P h i j - q h j) * Y j l =
    \sum_(j < n) (P h i j * X j l - q h j * X j l) - \sum_(j < n) (P h i j - q h j) * c l.
  by rewrite -sum_sub; apply: sum_eq => j; rewrite /Y /about; ring.
by rewrite scale_sum !sum_sub sumP sumq; ring.
Qed.

(* Every entry of the output about its centre: the repaired signed step. *)
Lemma attention_entry i k :
  Rabs (Z i k) <= \sum_(h < H) 2 * range (E h i) * (\sum_(l < d) y h l * Rabs (W h l k)).
Proof.
have -> : Z i k = \sum_(h < H) \sum_(l < d) (\sum_(j < n) (P h i j - q h j) * Y j l) * W h l k.
  rewrite /Z /about /attention /next_centre -sum_sub; apply: sum_eq => h.
  by rewrite {1}/mul -sum_sub; apply: sum_eq => l; rewrite -moved Rmult_minus_distr_r.
apply: Rle_trans (abs_sum _) _; apply: sum_le => h.
apply: Rle_trans (abs_sum _) _; rewrite sum_scale; apply: sum_le => l.
rewrite Rabs_mult -Rmult_assoc; apply: Rmult_le_compat_r (Rabs_pos _) _.
apply: Rle_trans (abs_sum _) _; rewrite sum_scale; apply: sum_le => j.
rewrite Rabs_mult -Rmult_assoc; apply: Rmult_le_compat_r (Rabs_pos _) _.
exact: attention_near.
Qed.

Lemma attention_columns :
  column_norm Z <= 2 * (column_norm Y * (\sum_(h < H) total_range (E h) * column_norm (W h))).
Proof.
have term h : 0 <= total_range (E h) * column_norm (W h).
  by apply: Rmult_le_pos; [apply: total_ge0 | apply: column_norm_ge0].
apply: max_le => [|k].
  by apply: Rmult_le_pos; [lra | apply: Rmult_le_pos; [apply: column_norm_ge0 | apply: sum_ge0]].
apply: Rle_trans (sum_le (fun i => attention_entry i k)) _.
rewrite sum_exchange !sum_scale; apply: sum_le => h; rewrite scale_sum -sum_scale.
rewrite -[\sum_(i < n) range (E h i)]/(total_range (E h)).
suff : \sum_(l < d) y h l * Rabs (W h l k) <= column_norm Y * column_norm (W h).
  by have := total_ge0 (E h); move: (total_range _) (\sum_(l < d) _) => t s; nra.
apply: (@Rle_trans _ (\sum_(l < d) column_norm Y * Rabs (W h l k))).
  by apply: sum_le => l; apply: Rmult_le_compat_r (Rabs_pos _) (y_column h l).
rewrite -sum_scale; exact: Rmult_le_compat_l (column_norm_ge0 Y) (column_norm_ge (W h) k).
Qed.

Lemma attention_rows :
  row_norm Z <= 2 * (row_norm Y * (\sum_(h < H) widest (E h) * row_norm (W h))).
Proof.
have term h : 0 <= widest (E h) * row_norm (W h).
  by apply: Rmult_le_pos; [apply: widest_ge0 | apply: row_norm_ge0].
apply: max_le => [|i].
  by apply: Rmult_le_pos; [lra | apply: Rmult_le_pos; [apply: row_norm_ge0 | apply: sum_ge0]].
apply: Rle_trans (sum_le (fun k => attention_entry i k)) _.
rewrite sum_exchange !sum_scale; apply: sum_le => h; rewrite -sum_scale sum_exchange.
suff : \sum_(l < d) \sum_(k < d) y h l * Rabs (W h l k) <= row_norm Y * row_norm (W h).
  have := range_ge0 (E h i); have := widest_ge (E h) i.
  have : 0 <= row_norm Y * row_norm (W h).
    by apply: Rmult_le_pos; apply: row_norm_ge0.
  have -> : 2 * (row_norm Y * (widest (E h) * row_norm (W h))) =
    2 * widest (E h) * (row_norm Y * row_norm (W h)) by ring.
  move: (row_norm Y * row_norm (W h)) (range _) (widest _) (\sum_(l < d) _) => s r t u.
  move=> s0 rt r0 us; have := Rmult_le_compat_l (2 * r) _ _ ltac:(lra) us.
  by have := Rmult_le_compat_r s _ _ s0 rt; lra.
apply: (@Rle_trans _ (\sum_(l < d) y h l * row_norm (W h))).
  apply: sum_le => l; rewrite -sum_scale.
  by apply: Rmult_le_compat_l (y_ge0 h l) (row_norm_ge (W h) l).
rewrite scale_sum; exact: Rmult_le_compat_r (row_norm_ge0 _) (y_row h).
Qed.

End Layer.
(* --- the cubic law --- *)

Lemma sum_one (f : 'I_1 -> R) : \sum_(i < 1) f i = f ord0.
Proof. by rewrite big_ord_recl big_ord0 /= Rplus_0_r. Qed.

Ltac nonneg :=
  match goal with |- 0 <= _ => repeat apply Rmult_le_pos; first [lra | assumption] end.

Section Cubic.

Variables (n d w : nat).
Hypothesis w0 : (0 < w)%N.

(* Claim: rank_collapse/cubic_steps, its step "residual". One head whose logits, less what all rows
   share, range over at most 1.256 in every row: about some centre the output is at most
   2 sqrt(|D 1|_1 |D 1|_inf) |R| |W_V|. The input's centre is any. *)
Theorem one_layer_residual (h : head d) (X : mat n d) c :
  let E := perturbation w h (about X c) in
  (forall i, range (E i) <= 157 / 125) ->
  exists c', norm (about (attention w (fun _ : 'I_1 => h) X) c') <=
             2 * sqrt (total_range E * widest E) * norm (about X c) * norm (value h).
Proof.
move=> E small; pose hs := fun _ : 'I_1 => h; exists (next_centre w hs X c).
have := @attention_columns n d w 1 hs X c (fun _ => small).
have := @attention_rows n d w 1 hs X c (fun _ => small).
set Z := about _ _; rewrite !sum_one -/E => rows columns.
set Y := about X c in E small rows columns *; set V := value h in rows columns *.
have [t0 u0] := (total_ge0 E, widest_ge0 E).
have [cY rY] := (column_norm_ge0 Y, row_norm_ge0 Y).
have [cV rV] := (column_norm_ge0 V, row_norm_ge0 V).
have -> : 2 * sqrt (total_range E * widest E) * norm Y * norm V =
    sqrt ((2 * (column_norm Y * (total_range E * column_norm V))) *
          (2 * (row_norm Y * (widest E * row_norm V)))).
  rewrite -{1}[2](sqrt_square 2); last lra.
  rewrite /norm -!sqrt_mult //; try nonneg.
  by congr sqrt; ring.
apply: (sqrt_le_1_alt (column_norm Z * row_norm Z)); apply: Rmult_le_compat => //.
  exact: column_norm_ge0.
exact: row_norm_ge0.
Qed.

(* Claim: rank_collapse/one_layer_cubic. The same with gamma of the logits: at most 4 gamma |W_QK|_1
   |W_V| / sqrt(w) times the cube of the norm before. *)
Theorem one_layer_cubic (h : head d) (X : mat n d) c :
  let E := perturbation w h (about X c) in
  (forall i, range (E i) <= 157 / 125) ->
  exists c', norm (about (attention w (fun _ : 'I_1 => h) X) c') <=
    gamma E * cubic_bound (column_norm (qk h)) (norm (value h)) w (norm (about X c)).
Proof.
move=> E small; have [c' le_c'] := one_layer_residual small; exists c'.
apply: Rle_trans le_c' _; rewrite gamma_ranges -/E /cubic_bound.
have := perturbation_norm w0 h (about X c); rewrite -/E.
have g0 : 0 <= gamma E by apply/share_ge0/sqrt_pos.
have := norm_ge0 (about X c); have := norm_ge0 (value h).
set r := norm (about X c); set v := norm _; set q := column_norm (qk h); set s := sqrt (INR w).
move: (gamma E) (column_norm E) g0 => g e g0 v0 r0 le_e.
have := Rmult_le_compat_l (g * (r * v)) _ _ _ le_e.
have f0 : 0 <= g * (r * v) by do 2!(apply: Rmult_le_pos => //).
move=> /(_ f0); rewrite /Rdiv => le; apply: Rle_trans (_ : 4 * (g * (r * v) * e) <= _).
  by right; ring.
have -> : g * (4 * q * v * / s * r ^ 3) = 4 * (g * (r * v) * (q * r ^ 2 * / s)) by ring.
lra.
Qed.

(* The condition on norms that the claim assumes. *)
Lemma small_norms (h : head d) (Y : mat n d) i :
  2 * column_norm (qk h) * norm Y ^ 2 <= 157 / 125 * sqrt (INR w) ->
  range (perturbation w h Y i) <= 157 / 125.
Proof.
move=> small; have s0 := root_gt0 w0.
apply: Rle_trans (range_column _ i) _.
have := perturbation_norm w0 h Y; set e := column_norm _; set q := column_norm _ => le_e.
apply: (Rmult_le_reg_r _ _ _ s0); have := Rmult_le_compat_r _ _ _ (Rlt_le _ _ s0) le_e.
rewrite /Rdiv Rmult_assoc Rinv_l; last lra.
by rewrite -/q in small *; lra.
Qed.

(* Claim: rank_collapse/layers_product, one layer of H heads: the two norms are added over heads
   inside the root, since the composite norm has no triangle inequality. *)
Theorem one_layer_heads H (heads : 'I_H -> head d) (X : mat n d) c :
  (forall h i, range (perturbation w (heads h) (about X c) i) <= 157 / 125) ->
  exists c', norm (about (attention w heads X) c') <=
    4 * head_sum w heads (about X c) * norm (about X c) ^ 3.
Proof.
move=> small; exists (next_centre w heads X c).
have := attention_columns small; have := attention_rows small.
set Z := about _ _; set Y := about X c; rewrite /head_sum.
pose E h := perturbation w (heads h) Y.
set A := \sum_(h < H) _ * (_ * column_norm _); set B := \sum_(h < H) _ * (_ * row_norm _).
set s := sqrt (INR w); have s0 : 0 < s by apply: root_gt0.
have i0 : 0 <= / s by apply/Rlt_le/Rinv_0_lt_compat.
have [cY rY] := (column_norm_ge0 Y, row_norm_ge0 Y).
have r0 := norm_ge0 Y; set r := norm Y in r0 *.
have P0 := Rmult_le_pos.
have r2 : 0 <= r ^ 2 by apply: pow_le.
have A0 : 0 <= A.
  apply: sum_ge0 => h; apply: Rmult_le_pos; first exact/share_ge0/total_ge0.
  by apply: Rmult_le_pos; apply: column_norm_ge0.
have B0 : 0 <= B.
  apply: sum_ge0 => h; apply: Rmult_le_pos; first exact/share_ge0/widest_ge0.
  by apply: Rmult_le_pos; [apply: column_norm_ge0 | apply: row_norm_ge0].
have part g e q v : 0 <= g -> 0 <= v -> e <= q * r ^ 2 / s ->
    g * (2 * e) * v <= 2 * (r ^ 2 * / s) * (g * (q * v)).
  move=> g0 v0 le_e; have := Rmult_le_compat_l (2 * (g * v)) _ _ _ le_e; rewrite /Rdiv.
  have gv := P0 _ _ g0 v0; move=> /(_ ltac:(lra)); lra.
have le_A : \sum_(h < H) total_range (E h) * column_norm (value (heads h)) <= 2 * (r ^ 2 * / s) * A.
  rewrite sum_scale; apply: sum_le => h; rewrite total_share; apply: part.
  - exact/share_ge0/total_ge0.
  - exact: column_norm_ge0.
  - exact: perturbation_norm.
have le_B : \sum_(h < H) widest (E h) * row_norm (value (heads h)) <= 2 * (r ^ 2 * / s) * B.
  rewrite sum_scale; apply: sum_le => h; rewrite widest_share; apply: part.
  - exact/share_ge0/widest_ge0.
  - exact: row_norm_ge0.
  - exact: perturbation_norm.
move=> rows columns.
have {}columns : column_norm Z <= 4 * (r ^ 2 * / s) * (column_norm Y * A).
  apply: Rle_trans columns _; rewrite -/Y.
  have -> : 4 * (r ^ 2 * / s) * (column_norm Y * A) =
    2 * (column_norm Y * (2 * (r ^ 2 * / s) * A)) by ring.
  by apply: Rmult_le_compat_l; [lra | apply: Rmult_le_compat_l cY le_A].
have {}rows : row_norm Z <= 4 * (r ^ 2 * / s) * (row_norm Y * B).
  apply: Rle_trans rows _; rewrite -/Y.
  have -> : 4 * (r ^ 2 * / s) * (row_norm Y * B) =
    2 * (row_norm Y * (2 * (r ^ 2 * / s) * B)) by ring.
  by apply: Rmult_le_compat_l; [lra | apply: Rmult_le_compat_l rY le_B].
have k0 : 0 <= 4 * (r ^ 2 * / s) by have := P0 _ _ r2 i0; lra.
have -> : 4 * (sqrt (A * B) / s) * r ^ 3 = 4 * (r ^ 2 * / s) * (r * sqrt (A * B)).
  by rewrite /Rdiv; ring.
rewrite -{1}(sqrt_square _ k0) {3}/r /norm -!sqrt_mult //; try nonneg.
apply: (sqrt_le_1_alt (column_norm Z * row_norm Z)).
have -> : 4 * (r ^ 2 * / s) * (4 * (r ^ 2 * / s)) * (column_norm Y * row_norm Y * (A * B)) =
  (4 * (r ^ 2 * / s) * (column_norm Y * A)) * (4 * (r ^ 2 * / s) * (row_norm Y * B)) by ring.
by apply: Rmult_le_compat => //; [apply: column_norm_ge0 | apply: row_norm_ge0].
Qed.

End Cubic.
(* Two tokens of width one, 1/2 and -1/2, and unit weights: their logits range over 1/2. *)
Definition unit_head : head 1 := Head (fun _ _ => 1) (fun _ => 0) (fun _ _ => 1).
Definition two_tokens : mat 2 1 := fun i _ => if i == ord0 then 1 / 2 else - (1 / 2).

Example one_layer_cubic_met i :
  range (perturbation 1 unit_head (about two_tokens (fun _ => 0)) i) <= 157 / 125.
Proof.
apply: range_le => [|j k]; first lra.
rewrite /perturbation /mul /tr !sum_one /about /two_tokens /= sqrt_1.
by case: ifP => _; case: ifP => _; case: ifP => _; lra.
Qed.

(* --- L layers --- *)

Lemma cubic_product (r k : nat -> R) L :
  (forall l, (l <= L)%N -> 0 <= r l) -> (forall l, (l < L)%N -> 0 <= k l) ->
  (forall l, (l < L)%N -> r l.+1 <= k l * r l ^ 3) ->
  r L <= (\prod_(l < L) k l ^ (3 ^ (L - l.+1))%N) * r 0%N ^ (3 ^ L)%N.
Proof.
elim: L => [|L IH] r0 k0 step; first by rewrite big_ord0 /=; lra.
have {}IH := IH (fun l ll => r0 l (leqW ll)) (fun l ll => k0 l (leqW ll))
                (fun l ll => step l (leqW ll)).
apply: Rle_trans (step L (ltnSn L)) _; rewrite big_ord_recr /= subnn pow_1 -[r L * _]/(r L ^ 3).
have -> : \prod_(l < L) k l ^ (3 ^ (L.+1 - l.+1))%N = (\prod_(l < L) k l ^ (3 ^ (L - l.+1))%N) ^ 3.
  have -> : (\prod_(l < L) k l ^ (3 ^ (L - l.+1))%N) ^ 3 =
      \prod_(l < L) (k l ^ (3 ^ (L - l.+1))%N) ^ 3.
    by apply: (big_morph (fun x => x ^ 3)) => [x y|]; ring.
  by apply: eq_bigr => l _; rewrite -pow_mult multE -expnSr subSS subnSK.
rewrite expnSr pow_mult; set B := \prod_(l < L) _ in IH *; set b := r 0%N ^ _ in IH *.
have -> : B ^ 3 * k L * b ^ 3 = k L * (B * b) ^ 3 by ring.
apply: Rmult_le_compat_l; first exact: k0.
by apply: pow_incr; split=> //; apply: r0.
Qed.

Lemma head_sum_ge0 n d w H (heads : 'I_H -> head d) (Y : mat n d) :
  (0 < w)%N -> 0 <= head_sum w heads Y.
Proof.
move=> w0; apply: Rmult_le_pos; first exact: sqrt_pos.
exact/Rlt_le/Rinv_0_lt_compat/root_gt0.
Qed.

(* Claim: rank_collapse/layers_product, whole nets: any number of layers, heads in each, widths and
   tokens. Every layer's residual is about a best centre, the input's about any, and the logits E of
   every layer range over at most 1.256. Layers are counted from 0, so that 3^(L - l) of the claim
   is 3^(L - l.+1) here. That a best centre exists is assumed of the layers named. *)
Theorem layers_product n d w (H : nat -> nat) (heads : forall l, 'I_(H l) -> head d) (X : mat n d)
    (c : nat -> 'I_d -> R) L :
  let R l := about (net w heads X l) (c l) in
  (0 < w)%N ->
  (forall l, (0 < l <= L)%N -> best_centre (net w heads X l) (c l)) ->
  (forall l, (l < L)%N -> forall h i, range (perturbation w (heads l h) (R l) i) <= 157 / 125) ->
  norm (R L) <= (\prod_(l < L) (4 * head_sum w (heads l) (R l)) ^ (3 ^ (L - l.+1))%N) *
                norm (R 0%N) ^ (3 ^ L)%N.
Proof.
move=> Y w0 best small; 
apply: (@cubic_product (fun l => norm (Y l)) (fun l => 4 * head_sum w (heads l) (Y l))) => l lL.
- exact: norm_ge0.
- by have := head_sum_ge0 (heads l) (Y l) w0; lra.
have [c' le_c'] := one_layer_heads w0 (small l lL).
apply: Rle_trans le_c'; exact: best.
Qed.

(* --- binary numbers --- *)

Definition fraction (a b : N) : R := IZR (Z.of_N a) / IZR (Z.of_N b).

Lemma number_mul a b : IZR (Z.of_N (a * b)) = IZR (Z.of_N a) * IZR (Z.of_N b).
Proof. by rewrite N2Z.inj_mul mult_IZR. Qed.

Lemma number_neq0 a : a <> 0%num -> IZR (Z.of_N a) <> 0.
Proof. by move=> a0; apply: (IZR_neq _ 0%Z); case: a a0. Qed.

Lemma number_nat a : INR (N.to_nat a) = IZR (Z.of_N a).
Proof. by rewrite INR_IZR_INZ N_nat_Z. Qed.

(* The bound for |W_QK|_1 = qn/qd, |W_V| = vn/vd, r = rn/rd and a square w. *)
Definition one_layer_cubic_value (qn qd vn vd w rn rd : N) : N * N :=
  (4 * qn * vn * (rn * (rn * rn)), qd * vd * N.sqrt w * (rd * (rd * rd)))%num.

Lemma one_layer_cubic_valueE qn qd vn vd s rn rd :
  qd <> 0%num -> vd <> 0%num -> s <> 0%num -> rd <> 0%num ->
  let v := one_layer_cubic_value qn qd vn vd (s * s) rn rd in
  cubic_bound (fraction qn qd) (fraction vn vd) (N.to_nat (s * s)) (fraction rn rd) =
  fraction v.1 v.2.
Proof.
move=> /number_neq0 q0 /number_neq0 v0 /number_neq0 s0 /number_neq0 r0.
lazy beta zeta iota delta [one_layer_cubic_value fst snd].
rewrite /cubic_bound /fraction N.sqrt_square !number_mul number_nat number_mul.
rewrite sqrt_square -?[IZR (Z.of_N 4)]/4; first by field.
by apply: (IZR_le 0); apply: N2Z.is_nonneg.
Qed.

(* Claim: rank_collapse/one_layer_cubic, the claim's net: any tokens, width, query-key and value
   matrix, bias and query/key width. The number r is at most the norm of the output about every
   centre, as the residual is; c is any centre of the input, such as the best one. The second part
   is the same bound on binary numbers. *)
Theorem one_layer_cubic_checked :
  (forall n d w (h : head d) (X : mat n d) c r,
    let E := perturbation w h (about X c) in
    (0 < w)%N -> (forall i, range (E i) <= 157 / 125) ->
    (forall c', r <= norm (about (attention w (fun _ : 'I_1 => h) X) c')) ->
    r <= gamma E * cubic_bound (column_norm (qk h)) (norm (value h)) w (norm (about X c))) /\
  (forall qn qd vn vd s rn rd,
    qd <> 0%num -> vd <> 0%num -> s <> 0%num -> rd <> 0%num ->
    let v := one_layer_cubic_value qn qd vn vd (s * s) rn rd in
    cubic_bound (fraction qn qd) (fraction vn vd) (N.to_nat (s * s)) (fraction rn rd) =
    fraction v.1 v.2).
Proof.
split; last exact: one_layer_cubic_valueE.
move=> n d w h X c r E w0 small least; have [c' le_c'] := one_layer_cubic w0 small.
exact: Rle_trans (least c') le_c'.
Qed.

(* --- L layers on binary numbers --- *)

(* The bound 4^((3^L - 1)/2) r^(3^L) for r = rn/rd. *)
Definition layers_product_value (rn rd L : N) : N * N :=
  let t := (3 ^ L)%num in (4 ^ ((t - 1) / 2) * rn ^ t, rd ^ t)%num.

Lemma number_pow a k : IZR (Z.of_N (a ^ N.of_nat k)) = IZR (Z.of_N a) ^ k.
Proof. by rewrite N2Z.inj_pow nat_N_Z pow_IZR. Qed.

Lemma power_of_3 (L : nat) : (3 ^ N.of_nat L)%num = N.of_nat (3 ^ L)%N.
Proof. by elim: L => // L IH; rewrite Nat2N.inj_succ N.pow_succ_r' IH expnS Nat2N.inj_mul. Qed.

Lemma half_power_of_3 L : (3 ^ L)%N = (((3 ^ L)%N.-1)./2 * 2 + 1)%N.
Proof.
have : odd (3 ^ L)%N by rewrite oddX orbT.
by case: (3 ^ L)%N => // m; rewrite oddS muln2 addn1 -{2}(odd_double_half m) => /negbTE ->.
Qed.

Lemma layers_product_valueE rn rd L : rd <> 0%num ->
  let v := layers_product_value rn rd (N.of_nat L) in
  4 ^ ((3 ^ L)%N.-1)./2 * fraction rn rd ^ (3 ^ L)%N = fraction v.1 v.2.
Proof.
move=> rd0; rewrite /layers_product_value /= power_of_3 /fraction number_mul.
have -> : ((N.of_nat (3 ^ L)%N - 1) / 2)%num = N.of_nat ((3 ^ L)%N.-1)./2.
  rewrite {1}half_power_of_3 Nat2N.inj_add Nat2N.inj_mul N.add_sub.
  exact: N.div_mul.
by rewrite !number_pow /Rdiv Rpow_mult_distr pow_inv -[IZR (Z.of_N 4)]/4; ring.
Qed.

(* The constants of all layers, without the residuals. *)
Lemma layers_constant (k : nat -> R) L :
  \prod_(l < L) (4 * k l) ^ (3 ^ (L - l.+1))%N =
  4 ^ ((3 ^ L)%N.-1)./2 * \prod_(l < L) k l ^ (3 ^ (L - l.+1))%N.
Proof.
transitivity (\prod_(l < L) 4 ^ (3 ^ (L - l.+1))%N * \prod_(l < L) k l ^ (3 ^ (L - l.+1))%N).
  by rewrite -big_split; apply: eq_bigr => l _; apply: Rpow_mult_distr.
congr (_ * _).
transitivity (4 ^ (\sum_(0 <= l < L) 3 ^ l)%N).
  rewrite big_nat_rev big_mkord; elim/big_rec2: _ => // l x y _ ->.
  by rewrite -pow_add.
congr (4 ^ _)%R.
have := half_power_of_3 L; set h := _./2; clearbody h.
have : (3 ^ L)%N = ((\sum_(0 <= l < L) 3 ^ l)%N * 2 + 1)%N.
  elim: L => [|L IH]; first by rewrite big_nil.
  rewrite big_nat_recr //= expnS; move: IH; move: (3 ^ L)%N (\sum_(0 <= l < L) _)%N => x y ->.
  by rewrite -!plusE -!multE; lia.
by move=> -> /eqP; rewrite eqn_add2r eqn_pmul2r // => /eqP.
Qed.

(* Claim: rank_collapse/layers_product, for every network and every input: the residual after L
   layers is at most the product of the head sums times 4^((3^L - 1)/2) times the 3^L-th power of
   the norm of the input about a centre. The claim divides by the head sums. The second part is the
   rest on binary numbers. *)
Theorem layers_product_checked :
  (forall n d w (H : nat -> nat) (heads : forall l, 'I_(H l) -> head d) (X : mat n d)
      (c : nat -> 'I_d -> R) L,
    let R l := about (net w heads X l) (c l) in
    (0 < w)%N ->
    (forall l, (0 < l <= L)%N -> best_centre (net w heads X l) (c l)) ->
    (forall l, (l < L)%N -> forall h i, range (perturbation w (heads l h) (R l) i) <= 157 / 125) ->
    norm (R L) <= (\prod_(l < L) head_sum w (heads l) (R l) ^ (3 ^ (L - l.+1))%N) *
      (4 ^ ((3 ^ L)%N.-1)./2 * norm (R 0%N) ^ (3 ^ L)%N)) /\
  (forall rn rd L, rd <> 0%num -> let v := layers_product_value rn rd (N.of_nat L) in
    4 ^ ((3 ^ L)%N.-1)./2 * fraction rn rd ^ (3 ^ L)%N = fraction v.1 v.2).
Proof.
split; last exact: layers_product_valueE.
move=> n d w H heads X c L Y w0 best small; have := layers_product w0 best small; rewrite -/Y.
rewrite (layers_constant (fun l => head_sum w (heads l) (Y l))).
by move: (\prod_(l < L) _) => p; rewrite (Rmult_comm (4 ^ _)) Rmult_assoc.
Qed.

(* The lemma's two sides, with the factor 2 above and 1 below. *)
Definition softmax_perturbation_value (side : Z) : N := if (side =? 1)%Z then 2%num else 1%num.

(* Claim: rank_collapse/softmax_perturbation. Logits a and a - E whose difference ranges over D: the
   weights of the one are at least 1 - D times those of the other, and at most 1 + 2 D times those
   where D is at most 1.256. *)
Theorem softmax_perturbation n (a E : 'I_n -> R) (side : Z) j :
  side = 1%Z /\ range E <= 157 / 125 \/ side = (-1)%Z ->
  let b k := a k - E k in
  IZR side * (softmax a j - softmax b j) <=
  IZR (Z.of_N (softmax_perturbation_value side)) * range E * softmax b j.
Proof.
move=> sides b; case: sides => [[-> small] | ->] /=.
  by have := softmax_upper a j small; rewrite -/b; lra.
by have := softmax_lower a E j; rewrite -/b; lra.
Qed.

Lemma softmax_perturbation_valueE :
  softmax_perturbation_value 1 = 2%num /\ softmax_perturbation_value (-1) = 1%num.
Proof. by []. Qed.
(* --- dot-product attention has no Lipschitz constant --- *)

(* The first output of attention of width one with unit weights: logits x_1 x_j. *)
Definition first_output n (x : 'I_n.+1 -> R) : R :=
  \sum_(j < n.+1) softmax (fun k => x ord0 * x k) j * x j.

(* The tokens t, s, -s, ..., s, -s. *)
Definition pair_tokens (s t : R) m : 'I_(2 * m).+1 -> R := fun j =>
  if val j is i.+1 then if odd i then - s else s else t.

Lemma sum_pairs (f : R -> R) (s t : R) m :
  \sum_(j < (2 * m).+1) f (pair_tokens s t j) = f t + INR m * (f s + f (- s)).
Proof.
rewrite big_ord_recl; congr (_ + _).
rewrite (eq_bigr (fun i : 'I_(2 * m) => if odd i then f (- s) else f s)); last first.
  by move=> i _; rewrite /pair_tokens /=; case: odd.
elim: m => [|m IH]; first by rewrite big_ord0 /= Rmult_0_l.
rewrite mulnS !big_ord_recr IH S_INR /= mul2n odd_double /=; ring.
Qed.

Lemma first_outputE s t m :
  first_output (pair_tokens s t (m := m)) =
  (exp (t * t) * t + INR m * s * (exp (t * s) - exp (t * - s))) /
  (exp (t * t) + INR m * (exp (t * s) + exp (t * - s))).
Proof.
rewrite /first_output /softmax; set x := @pair_tokens s t m.
have -> : x ord0 = t by [].
rewrite (sum_pairs (fun y => exp (t * y))); set total := exp _ + _.
rewrite (sum_pairs (fun y => exp (t * y) / total * y)).
by rewrite /Rdiv; ring.
Qed.

Lemma derivable_eq f g x l : (forall y, f y = g y) -> derivable_pt_lim f x l ->
  derivable_pt_lim g x l.
Proof.
move=> eqfg der eps eps0; have [d near] := der eps eps0.
by exists d => h *; rewrite -!eqfg; apply: near.
Qed.

Lemma derivable_scale a x : derivable_pt_lim (fun t => t * a) x a.
Proof.
have := derivable_pt_lim_scal _ a x 1 (derivable_pt_lim_id x); rewrite Rmult_1_r.
by apply: derivable_eq => y; rewrite /mult_real_fct /Ranalysis1.id; ring.
Qed.

Lemma derivable_exp_scale a : derivable_pt_lim (fun t => exp (t * a)) 0 a.
Proof.
have := derivable_pt_lim_comp _ exp 0 _ _ (derivable_scale a 0) (derivable_pt_lim_exp _).
by rewrite Rmult_0_l exp_0 Rmult_1_l.
Qed.

Lemma derivable_exp_square : derivable_pt_lim (fun t => exp (t * t)) 0 0.
Proof.
have one := derivable_pt_lim_id 0; have sq := derivable_pt_lim_mult _ _ 0 1 1 one one.
have := derivable_pt_lim_comp _ exp 0 _ _ sq (derivable_pt_lim_exp _).
by rewrite /mult_fct /Ranalysis1.id !(Rmult_0_r, Rmult_0_l, Rplus_0_r).
Qed.

(* ((N - 1) s^2 + 1)/N for s = a/b. *)
Definition dot_product_value (tokens a b : N) : N * N :=
  ((tokens - 1) * (a * a) + b * b, tokens * (b * b))%num.

Definition first_derivative (tokens s : R) : R := ((tokens - 1) * s ^ 2 + 1) / tokens.

(* The derivative of the first output in the first token, at the token 0. *)
Theorem dot_product_derivative s m :
  derivable_pt_lim (fun t => first_output (pair_tokens s t (m := m))) 0
                   (first_derivative (INR (2 * m).+1) s).
Proof.
set M := INR m.
have M0 : 0 <= M by apply: pos_INR.
have up := derivable_exp_scale s; have down := derivable_exp_scale (- s).
have num := derivable_pt_lim_plus _ _ _ _ _
  (derivable_pt_lim_mult _ _ _ _ _ derivable_exp_square (derivable_pt_lim_id 0))
  (derivable_pt_lim_scal _ (M * s) _ _ (derivable_pt_lim_minus _ _ _ _ _ up down)).
have den := derivable_pt_lim_plus _ _ _ _ _ derivable_exp_square
  (derivable_pt_lim_scal _ M _ _ (derivable_pt_lim_plus _ _ _ _ _ up down)).
have tot : 1 + M * (1 + 1) <> 0 by lra.
have := derivable_pt_lim_div _ _ _ _ _ num den.
rewrite /plus_fct /minus_fct /mult_real_fct /mult_fct /Ranalysis1.id !Rmult_0_l !exp_0.
move=> /(_ tot) der.
have -> : first_derivative (INR (2 * m).+1) s =
  ((0 + 1 * 1 + M * s * (s - - s)) * (1 + M * (1 + 1)) -
   (0 + M * (s + - s)) * (1 * 0 + M * s * (1 - 1))) / Rsqr (1 + M * (1 + 1)).
  rewrite /first_derivative S_INR mult_INR -/M /Rsqr /=; field.
  lra.
by apply: derivable_eq _ der => y; rewrite first_outputE /div_fct.
Qed.

Lemma first_derivative_grows m (K : R) :
  (0 < m)%N -> exists s, K < first_derivative (INR (2 * m).+1) s.
Proof.
move=> m0; have M1 : 1 <= INR m by apply: (le_INR 1); apply/leP.
exists (Rabs K + 1); rewrite /first_derivative S_INR mult_INR; set M := INR m in M1 *.
have K0 := Rabs_pos K; have K1 := Rle_abs K; set a := Rabs K in K0 K1 *.
apply: (Rmult_lt_reg_r (INR 2 * M + 1)); first by rewrite /=; lra.
rewrite /Rdiv Rmult_assoc Rinv_l /=; last lra.
have : 0 <= (M - 1) * a by apply: Rmult_le_pos; lra.
have : 0 <= (M - 1) * (a * a) by apply: Rmult_le_pos; [lra | nra].
have : K * M <= a * M by apply: Rmult_le_compat_r; lra.
nra.
Qed.

Lemma dot_product_valueE m a b : b <> 0%num ->
  let v := dot_product_value (N.of_nat (2 * m).+1) a b in
  first_derivative (INR (2 * m).+1) (fraction a b) = fraction v.1 v.2.
Proof.
move=> /number_neq0 b0; lazy beta zeta iota delta [dot_product_value fst snd].
have -> : (N.of_nat (2 * m).+1 - 1)%num = N.of_nat (2 * m) by rewrite Nat2N.inj_succ; lia.
have nat_ k : IZR (Z.of_N (N.of_nat k)) = INR k by rewrite nat_N_Z -INR_IZR_INZ.
rewrite /first_derivative /fraction N2Z.inj_add plus_IZR !number_mul !nat_ S_INR.
have := pos_INR (2 * m); move: (INR _) => M M0; field; lra.
Qed.

(* Claim: rank_collapse/dot_product_not_lipschitz. Tokens 0, s, -s, ..., s, -s, of number
   N = 2 m + 1: the derivative is ((N - 1) s^2 + 1)/N, and for N >= 3 no number K is a Lipschitz
   constant: there are two inputs that differ in their first token alone, by t, whose first outputs
   differ by more than K |t|. In every p-norm, since one token differs. *)
Theorem dot_product_not_lipschitz m :
  [/\ forall s, derivable_pt_lim (fun t => first_output (pair_tokens s t (m := m))) 0
                  (first_derivative (INR (2 * m).+1) s),
     forall a b, b <> 0%num -> let v := dot_product_value (N.of_nat (2 * m).+1) a b in
       first_derivative (INR (2 * m).+1) (fraction a b) = fraction v.1 v.2
   & (0 < m)%N -> forall K, exists s t,
       K * Rabs t < Rabs (first_output (pair_tokens s t (m := m)) -
                          first_output (pair_tokens s 0 (m := m)))].
Proof.
split=> [s | a b | m0 K]; [exact: dot_product_derivative | exact: dot_product_valueE |].
have [s big] := first_derivative_grows (K + 1) m0.
have [delta near] := dot_product_derivative s m Rlt_0_1.
have d0 := cond_pos delta; exists s, (delta / 2).
have := near (delta / 2); rewrite Rplus_0_l; set f := first_output _; set g := first_output _.
set l := first_derivative _ _ in big *.
rewrite (Rabs_pos_eq (delta / 2)); last lra.
move=> /(_ ltac:(lra) ltac:(lra)) /Rabs_def2[_ lo].
apply: Rlt_le_trans (Rle_abs _).
have {lo} : K < (f - g) / (delta / 2) by lra.
move=> /(Rmult_lt_compat_r (delta / 2) _ _ ltac:(lra)).
by rewrite /Rdiv Rmult_assoc Rinv_l ?Rmult_1_r //; lra.
Qed.

(* Three tokens 0, 1, -1: the derivative is 1. *)
Example dot_product_met : first_derivative (INR (2 * 1).+1) 1 = 1.
Proof. by rewrite /first_derivative /=; field. Qed.

(* Two tokens of width one that are opposite have their best centre at 0. *)
Lemma opposite_centre (X : mat 2 1) : X ord_max ord0 = - X ord0 ord0 ->
  best_centre X (fun _ => 0).
Proof.
move=> opp c'; apply: sqrt_le_1_alt; have abs := Rabs_triang.
have c := c' ord0; set Y := about X c'.
have sum2 (f : 'I_2 -> R) : \big[Rplus/0]_(i < 2) f i = f ord0 + f ord_max.
  rewrite !big_ord_recl big_ord0 Rplus_0_r; congr (_ + f _); exact/val_inj.
have col : column_norm (about X (fun _ => 0)) <= column_norm Y.
  apply: max_le => [|k]; first exact: column_norm_ge0.
  apply: Rle_trans (column_norm_ge Y ord0); rewrite !sum2 /Y /about !ord1 opp.
  by move: (X ord0 ord0) (c' ord0) => x z; rewrite /Rabs; repeat case: Rcase_abs; lra.
have row : row_norm (about X (fun _ => 0)) <= row_norm Y.
  apply: max_le => [|i]; first exact: row_norm_ge0.
  have := row_norm_ge Y ord0; have := row_norm_ge Y ord_max; rewrite !sum_one /Y /about opp.
  have [->|->] : i = ord0 \/ i = ord_max.
    by case: i => [[|[|//]] lt]; [left | right]; apply/val_inj.
    move: (row_norm _) (X ord0 ord0) (c' ord0) => r x z.
    by rewrite /Rabs; repeat case: Rcase_abs; lra.
  rewrite opp; move: (row_norm _) (X ord0 ord0) (c' ord0) => r x z.
  by rewrite /Rabs; repeat case: Rcase_abs; lra.
by apply: Rmult_le_compat => //; [exact: column_norm_ge0 | exact: row_norm_ge0].
Qed.

Lemma two_tokens_opposite (X := attention 1 (fun _ : 'I_1 => unit_head) two_tokens) :
  X ord_max ord0 = - X ord0 ord0.
Proof.
rewrite /X /attention /mul !sum_one /softmax !big_ord_recl !big_ord0 /logits /mul /tr !sum_one.
rewrite /two_tokens /= sqrt_1.
set p := exp _; set q := exp _; set r := exp _; set s := exp _.
have -> : p = exp (- (1 / 4)) by rewrite /p; congr exp; field.
have -> : q = exp (1 / 4) by rewrite /q; congr exp; field.
have -> : r = exp (1 / 4) by rewrite /r; congr exp; field.
have -> : s = exp (- (1 / 4)) by rewrite /s; congr exp; field.
have := exp_pos (1 / 4); have := exp_pos (- (1 / 4)); move: (exp _) (exp _) => x y x0 y0.
by field; lra.
Qed.

(* One layer on the two tokens: its best centre is 0, and its residual within the bound. *)
Example one_layer_cubic_checked_met
    (E := perturbation 1 unit_head (about two_tokens (fun _ => 0))) :
  norm (about (attention 1 (fun _ : 'I_1 => unit_head) two_tokens) (fun _ => 0)) <=
  gamma E * cubic_bound (column_norm (qk unit_head)) (norm (value unit_head)) 1
              (norm (about two_tokens (fun _ => 0))).
Proof.
apply: one_layer_cubic_checked.1 => //; first exact: one_layer_cubic_met.
exact: opposite_centre two_tokens_opposite.
Qed.
Example layers_product_met (net1 := net 1 (fun _ (_ : 'I_1) => unit_head) two_tokens) :
  norm (about (net1 1%nat) (fun _ => 0)) <=
  (\big[Rmult/1]_(l < 1) (4 * head_sum 1 (fun _ : 'I_1 => unit_head) (about (net1 l) (fun _ => 0)))
     ^ (3 ^ (1 - l.+1))%nat) * norm (about two_tokens (fun _ => 0)) ^ (3 ^ 1)%nat.
Proof.
apply: (@layers_product 2 1 1 (fun _ => 1%nat) (fun _ _ => unit_head) two_tokens
  (fun _ _ => 0) 1) => // [[|[|l]] //= _|[|l] //= _ h i].
  exact: opposite_centre two_tokens_opposite.
exact: one_layer_cubic_met.
Qed.

(* About 1/16 the norm of the two tokens is 3/4: the bound is 4 (3/4)^3 = 27/16 of the head sum. *)
Example layers_product_checked_met
    (net1 := net 1 (fun _ (_ : 'I_1) => unit_head) two_tokens) :
  norm (about (net1 1%nat) (fun _ => 0)) <=
  head_sum 1 (fun _ : 'I_1 => unit_head) (about two_tokens (fun _ => 1 / 16)) * (27 / 16).
Proof.
have sum2 (f : 'I_2 -> R) : \big[Rplus/0]_(i < 2) f i = f ord0 + f ord_max.
  rewrite !big_ord_recl big_ord0 Rplus_0_r; congr (_ + f _); exact/val_inj.
have norm0 : norm (about two_tokens (fun _ => 1 / 16)) = 3 / 4.
  rewrite /norm; have -> : column_norm (about two_tokens (fun _ => 1 / 16)) = 1.
    rewrite /column_norm big_ord_recl big_ord0 sum2 /about /two_tokens /= Rmax_left;
      by rewrite /Rabs; repeat case: Rcase_abs; lra.
  have -> : row_norm (about two_tokens (fun _ => 1 / 16)) = 3 / 4 * (3 / 4).
    rewrite /row_norm !big_ord_recl !big_ord0 /about /two_tokens /=.
    by rewrite /Rmax /Rabs; repeat (case: Rcase_abs || case: Rle_dec); lra.
  by rewrite Rmult_1_l sqrt_square; lra.
have := layers_product_checked.1 2%N 1%N 1%N (fun=> 1%N) (fun _ _ => unit_head) two_tokens
  (fun l _ => if l is 0%N then 1 / 16 else 0) 1%N.
have -> : 27 / 16 = 4 ^ ((3 ^ 1)%N.-1)./2 * (3 / 4) ^ (3 ^ 1)%N by rewrite /=; field.
lazy zeta; rewrite norm0 big_ord_recl big_ord0 [_ ^ (3 ^ _)%N in X in X -> _]/= !Rmult_1_r.
apply=> // [[|[|l]] //= _|[|l] //= _ h i].
  exact: opposite_centre two_tokens_opposite.
apply: range_le => [|j k]; first lra.
rewrite /perturbation /mul /tr !sum_one /about /two_tokens /= sqrt_1.
by case: ifP => _; case: ifP => _; case: ifP => _; lra.
Qed.

(* With three tokens no number is a Lipschitz constant. *)
Example three_tokens_not_lipschitz K : exists s t,
  K * Rabs t < Rabs (first_output (pair_tokens s t (m := 1)) -
                     first_output (pair_tokens s 0 (m := 1))).
Proof. by have [_ _ H] := dot_product_not_lipschitz 1; apply: H. Qed.

(* Logits 1/4, 0 in place of 0, 0: weights of 1/2 become at most 3/4 and at least 3/8. *)
Example softmax_perturbation_met :
  exp (1 / 4) / (exp (1 / 4) + 1) <= 3 / 4 /\ 3 / 8 <= 1 / (exp (1 / 4) + 1).
Proof.
pose a (j : 'I_2) := if j == ord0 then 1 / 4 else 0; pose b k := a k - a k.
have range_a : range a = 1 / 4.
  apply: Rle_antisym.
    by apply: range_le => [|j k]; rewrite /a; [lra | case: ifP => _; case: ifP => _; lra].
  by have := range_ge a ord0 ord_max; rewrite /a /=; lra.
have soft j : softmax a j = exp (a j) / (exp (1 / 4) + 1).
  by rewrite /softmax !big_ord_recl big_ord0 /a /= exp_0 Rplus_0_r.
have flat j : softmax b j = 1 / 2.
  by rewrite /softmax !big_ord_recl big_ord0 /b /Rminus !Rplus_opp_r exp_0; field.
have up : IZR 1 * (softmax a ord0 - softmax b ord0) <=
    IZR (Z.of_N (softmax_perturbation_value 1)) * range a * softmax b ord0.
  by apply: softmax_perturbation; left; rewrite range_a; split=> //; lra.
have low : IZR (-1) * (softmax a ord_max - softmax b ord_max) <=
    IZR (Z.of_N (softmax_perturbation_value (-1))) * range a * softmax b ord_max.
  by apply: softmax_perturbation; right.
move: up low; rewrite !flat !soft range_a /a /= exp_0.
set x := exp _ / _; set y := 1 / (_ + 1) => up low; lra.
Qed.
