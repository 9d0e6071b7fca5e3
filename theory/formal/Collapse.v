(* Collapse of tokens: the doubly exponential recursion, and products of masked attention matrices.

   Claims: rank_collapse/layers_product, rank_collapse/layers_uniform,
   rank_collapse/collapse_condition, rank_collapse/doubly_exponential_slope
   (theory/rank_collapse/deep_layers.py and doubly_exponential.py), rank_collapse/mask_exponential
   and rank_collapse/position_bias (theory/rank_collapse/masked_attention.py).

   The first part is about the recursion alone: that a layer of softmax attention cubes the residual
   is not shown here. The second part is about the attention matrices that the claims measure. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring zify.

Import Order.TTheory GRing.Theory Num.Theory.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.

(* --- the objects --- *)

(* (3^L - 1)/2, the exponent of the coefficient after L layers. *)
Definition cubic_exponent (L : nat) : nat := (3 ^ L).-1./2.

Section Objects.

Variables (R : realFieldType) (n : nat).

(* Rows of weights: nonnegative, of sum one. *)
Definition stochastic (P : 'M[R]_n) : Prop :=
  (forall i k, 0 <= P i k) /\ (forall i, \sum_k P i k = 1).

(* The product of the attention matrices of the first L layers, the first one on the right. *)
Fixpoint attention_product (A : nat -> 'M[R]_n) (L : nat) : 'M[R]_n :=
  if L is l.+1 then A l *m attention_product A l else 1%:M.

(* At least eps of attention along every edge of the mask: mask i k if token i sees token k. *)
Definition pays (eps : R) (mask : rel 'I_n) (P : 'M[R]_n) : Prop :=
  forall i k, mask i k -> eps <= P i k.

(* Token i reaches the centre through the mask in r steps. *)
Fixpoint reaches (mask : rel 'I_n) (centre : 'I_n) (r : nat) (i : 'I_n) : bool :=
  if r is s.+1 then [exists k, mask i k && reaches mask centre s k] else i == centre.

(* The largest difference of two tokens in one coordinate, at least 0. *)
Definition spread d (X : 'M[R]_(n, d)) : R :=
  foldr Num.max 0 [seq X p.1.1 p.2 - X p.1.2 p.2 | p <- enum {: 'I_n * 'I_n * 'I_d}].

(* Weight that row i puts on the positions from number j on, counted from 0. *)
Definition tail (P : 'M[R]_n) (j : nat) (i : 'I_n) : R := \sum_(m < n | (j <= m)%N) P i m.

(* A causal window of w tokens. *)
Definition window (w : nat) : rel 'I_n := fun i k => (k <= i)%N && (i < k + w)%N.

End Objects.

(* --- numbers --- *)

Lemma nat_of_pow_bin (a b : N) : nat_of_bin (N.pow a b) = (nat_of_bin a ^ nat_of_bin b)%N.
Proof.
elim/N.peano_ind: b => [|b IH]; first by rewrite N.pow_0_r.
by rewrite N.pow_succ_r' -N.add_1_l nat_of_mul_bin nat_of_add_bin IH expnS.
Qed.

Lemma nat_of_div_bin (a b : N) : nat_of_bin (N.div a b) = (nat_of_bin a %/ nat_of_bin b)%N.
Proof.
have [->|b0] := b =P N0; first by rewrite divn0; case: a.
have lt_b : (nat_of_bin (N.modulo a b) < nat_of_bin b)%N by have := N.mod_lt a b b0; lia.
rewrite {2}(N.div_mod a b b0) nat_of_add_bin nat_of_mul_bin mulnC divnMDl; last by lia.
by rewrite divn_small ?addn0.
Qed.

Lemma nat_of_sub_bin (a b : N) : nat_of_bin (N.sub a b) = (nat_of_bin a - nat_of_bin b)%N.
Proof. lia. Qed.

Lemma cubic_exponentP L : (2 * cubic_exponent L).+1 = (3 ^ L)%N.
Proof.
have := odd_double_half (3 ^ L); rewrite oddX orbT /cubic_exponent => <-.
by rewrite add1n /= doubleK mul2n.
Qed.

Lemma cubic_exponent0 : cubic_exponent 0 = 0%N. Proof. by []. Qed.

Lemma cubic_exponentS L : cubic_exponent L.+1 = (3 * cubic_exponent L).+1.
Proof. by have := cubic_exponentP L.+1; rewrite expnS -cubic_exponentP; lia. Qed.

Lemma cubic_exponent_ge L : (L <= cubic_exponent L)%N.
Proof. by elim: L => // L IH; rewrite cubic_exponentS; lia. Qed.

(* The exponents of the claims on binary numbers: of the coefficient, and of the residual. *)
Definition cubic_exponent_value (L : N) : N := N.div (N.pow 3 L - 1) 2.
Definition residual_exponent_value (L : N) : N := N.pow 3 L.

Lemma cubic_exponent_valueE L :
  cubic_exponent_value (bin_of_nat L) = bin_of_nat (cubic_exponent L).
Proof.
apply: (can_inj nat_of_binK); rewrite bin_of_natK nat_of_div_bin nat_of_sub_bin nat_of_pow_bin.
by rewrite bin_of_natK /= -cubic_exponentP subn1 mulKn.
Qed.

Lemma residual_exponent_valueE L : residual_exponent_value (bin_of_nat L) = bin_of_nat (3 ^ L).
Proof. by apply: (can_inj nat_of_binK); rewrite nat_of_pow_bin !bin_of_natK. Qed.

(* --- the cubic recursion --- *)

Lemma expr_odd (R : comRingType) (x : R) e : x ^+ (2 * e).+1 = x * (x ^+ e) ^+ 2.
Proof. by rewrite exprS mulnC exprM. Qed.

Section Recursion.

Variable R : realFieldType.
Implicit Types (r k : nat -> R) (c : R).

(* Claim: rank_collapse/layers_product. If layer l takes the residual r to at most k_l r^3, then L
   layers take r_0 to at most the product of the k_l^(3^(L - l)), times r_0^(3^L): what is left of
   the claim once each layer is so bounded (k_l there is 4 times the head sum; layers are counted
   from 0 here, so that 3^(L - l) of the claim is 3^(L - l.+1)). That a layer of softmax attention
   is so bounded where logits are small remains informal. *)
Theorem layers_product r k L :
  (forall l, (l <= L)%N -> 0 <= r l) -> (forall l, (l < L)%N -> 0 <= k l) ->
  (forall l, (l < L)%N -> r l.+1 <= k l * r l ^+ 3) ->
  r L <= \prod_(l < L) k l ^+ (3 ^ (L - l.+1)) * r 0%N ^+ (3 ^ L).
Proof.
elim: L => [|L IH] r0 k0 step; first by rewrite big_ord0 mul1r expr1.
have {}IH := IH (fun l ll => r0 l (leqW ll)) (fun l ll => k0 l (leqW ll))
                (fun l ll => step l (leqW ll)).
apply: le_trans (step L _) _ => //; rewrite big_ord_recr /= subnn expr1.
rewrite [_ * k L]mulrC -mulrA ler_wpM2l ?k0 //.
have -> : \prod_(l < L) k l ^+ (3 ^ (L.+1 - l.+1)) =
          (\prod_(l < L) k l ^+ (3 ^ (L - l.+1))) ^+ 3.
  by rewrite -prodrXl; apply: eq_bigr => l _; rewrite -exprM -expnSr subSS subnSK.
rewrite expnSr exprM -exprMn lerXn2r ?nnegrE //; first exact: r0.
by rewrite mulr_ge0 ?exprn_ge0 ?r0 //; apply: prodr_ge0 => l _; rewrite exprn_ge0 ?k0 ?leqW.
Qed.

(* The recursion with equality is solved by the same product: no exponent can be lowered. *)
Theorem layers_product_equal r k L :
  (forall l, (l < L)%N -> r l.+1 = k l * r l ^+ 3) ->
  r L = \prod_(l < L) k l ^+ (3 ^ (L - l.+1)) * r 0%N ^+ (3 ^ L).
Proof.
elim: L => [|L IH] step; first by rewrite big_ord0 mul1r expr1.
rewrite step // (IH (fun l ll => step l (leqW ll))) big_ord_recr /= subnn expr1.
have -> : \prod_(l < L) k l ^+ (3 ^ (L.+1 - l.+1)) =
          (\prod_(l < L) k l ^+ (3 ^ (L - l.+1))) ^+ 3.
  by rewrite -prodrXl; apply: eq_bigr => l _; rewrite -exprM -expnSr subSS subnSK.
by rewrite exprMn expnSr exprM mulrCA mulrA.
Qed.

Lemma prod_constant c L : \prod_(l < L) c ^+ (3 ^ (L - l.+1)) = c ^+ cubic_exponent L.
Proof.
elim: L => [|L IH]; first by rewrite big_ord0.
rewrite big_ord_recl /= subSS subn0 cubic_exponentS; under eq_bigr => l _ do rewrite subSS.
rewrite IH -exprD; congr (c ^+ _); rewrite -cubic_exponentP; lia.
Qed.

(* Claim: rank_collapse/layers_uniform. With one coefficient c for all layers the residual after L
   layers is at most c^((3^L - 1)/2) times the 3^L-th power of the input's. *)
Theorem layers_uniform r c L :
  0 <= c -> (forall l, 0 <= r l) -> (forall l, (l < L)%N -> r l.+1 <= c * r l ^+ 3) ->
  r L <= c ^+ cubic_exponent L * r 0%N ^+ (3 ^ L).
Proof. by move=> c0 r0 step; rewrite -prod_constant; apply: layers_product. Qed.

(* Claim: rank_collapse/collapse_condition. The closed form of r_(l+1) = c r_l^3: c^((3^L - 1)/2)
   times r_0^(3^L). *)
Theorem collapse_condition r c L :
  (forall l, r l.+1 = c * r l ^+ 3) -> r L = c ^+ cubic_exponent L * r 0%N ^+ (3 ^ L).
Proof. by move=> step; rewrite -prod_constant; apply: layers_product_equal. Qed.

(* The closed form without a root of c: c r_L^2 is the 3^L-th power of c r_0^2. *)
Theorem collapse_square r c L :
  (forall l, r l.+1 = c * r l ^+ 3) -> c * r L ^+ 2 = (c * r 0%N ^+ 2) ^+ (3 ^ L).
Proof.
move=> step; rewrite (collapse_condition L step) -cubic_exponentP !expr_odd !exprMn.
by move: (c ^+ cubic_exponent L) (r 0%N ^+ cubic_exponent L) => a b; ring.
Qed.

(* Example: r_l = 2^((3^l - 1)/2) from 1 with coefficient 2. *)
Definition cubic_from (c x0 : R) (l : nat) : R := iter l (fun x : R => c * x ^+ 3) x0.

Example cubic_from_met : forall l, cubic_from 2%:R 1 l.+1 = 2%:R * cubic_from 2%:R 1 l ^+ 3.
Proof. by []. Qed.

Lemma cubic_from_ge0 c x0 l : 0 <= c -> 0 <= x0 -> 0 <= cubic_from c x0 l.
Proof. by move=> c0 x00; elim: l => //= l IH; rewrite mulr_ge0 ?exprn_ge0. Qed.

(* Both exponents are the only ones with which the bound holds for all coefficients and inputs. *)
Theorem layers_uniform_sharp (e b L : nat) :
  (forall r c, 0 <= c -> (forall l, 0 <= r l) -> (forall l, r l.+1 <= c * r l ^+ 3) ->
    r L <= c ^+ e * r 0%N ^+ b) ->
  e = cubic_exponent L /\ b = (3 ^ L)%N.
Proof.
move=> bound.
have two : 1 < 2%:R :> R by rewrite ltr1n.
have half0 : 0 < 2%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have half1 : 2%:R^-1 < 1 :> R by rewrite invf_lt1 ?ltr0n ?ltr1n.
have at_ c x0 (c0 : 0 <= c) (x00 : 0 <= x0) :
    c ^+ cubic_exponent L * x0 ^+ (3 ^ L) <= c ^+ e * x0 ^+ b.
  rewrite -(@collapse_condition (cubic_from c x0) c L) //.
  by apply: (bound (cubic_from c x0)) => // l; apply: cubic_from_ge0.
have two0 := ltW (lt_trans ltr01 two).
have [le2 le_half] := (at_ 2%:R 1 two0 ler01, at_ 2%:R^-1 1 (ltW half0) ler01).
have [ri2 ri_half] := (at_ 1 2%:R ler01 two0, at_ 1 2%:R^-1 ler01 (ltW half0)).
move: le2 le_half ri2 ri_half; rewrite !expr1n !mulr1 !mul1r.
rewrite !(ler_eXn2l two) !(ler_iXn2l half0 half1) => *.
by split; apply/eqP; rewrite eqn_leq; apply/andP.
Qed.

(* Claim: rank_collapse/doubly_exponential_slope. Its recurrence: where each layer cubes up to a
   coefficient between c and 1, the residual lies between two 3^L-th powers. The slope of
   log(-log r) that the claim fits to it, and logarithms, are not stated here. *)
Theorem doubly_exponential_between r c L :
  0 <= c -> (forall l, 0 <= r l) ->
  (forall l, (l < L)%N -> c * r l ^+ 3 <= r l.+1 /\ r l.+1 <= r l ^+ 3) ->
  c ^+ cubic_exponent L * r 0%N ^+ (3 ^ L) <= r L /\ r L <= r 0%N ^+ (3 ^ L).
Proof.
move=> c0 r0 step; split; last first.
  rewrite -[leRHS]mul1r -(expr1n _ (cubic_exponent L)).
  by apply: layers_uniform; rewrite ?ler01 // => l /step[_]; rewrite mul1r.
elim: L step => [|L IH] step; first by rewrite mul1r expr1.
have {}IH := IH (fun l ll => step l (leqW ll)).
apply: le_trans (step L _).1 => //; rewrite cubic_exponentS expnSr exprM exprS mulnC exprM -mulrA.
by rewrite ler_wpM2l // -exprMn lerXn2r ?nnegrE ?r0 // mulr_ge0 ?exprn_ge0.
Qed.

End Recursion.

(* Claim: rank_collapse/collapse_condition. As printed there: sqrt(c) r_L = (sqrt(c) r_0)^(3^L). *)
Theorem collapse_root (R : rcfType) (r : nat -> R) c L :
  0 <= c -> (forall l, r l.+1 = c * r l ^+ 3) ->
  Num.sqrt c * r L = (Num.sqrt c * r 0%N) ^+ (3 ^ L).
Proof.
move=> c0 step; rewrite (collapse_condition L step) exprMn mulrA; congr (_ * _).
by rewrite -{2}(sqr_sqrtr c0) -exprM -exprS cubic_exponentP.
Qed.

Lemma bernoulli (R : realFieldType) (h : R) n : 0 <= h -> 1 + h *+ n <= (1 + h) ^+ n.
Proof.
move=> h0; elim: n => [|n IH]; first by rewrite mulr0n addr0.
rewrite exprSr (le_trans _ (ler_wpM2r _ IH)) ?addr_ge0 ?ler01 //.
have a0 : 0 <= h *+ n by rewrite mulrn_wge0.
rewrite mulrSr; move: (h *+ n) a0 => a a0.
have -> : (1 + a) * (1 + h) = 1 + (a + h) + h * a by ring.
by rewrite lerDl mulr_ge0.
Qed.

Definition tends_to_0 (R : realFieldType) (r : nat -> R) : Prop :=
  forall eps, 0 < eps -> exists l, forall L, (l <= L)%N -> r L < eps.

(* Claim: rank_collapse/collapse_condition. The residual "tends to 0 exactly when sqrt(c) r_0 < 1",
   here c r_0^2 < 1: the repair of the condition c < 1 in rank_collapse/convergence_as_reported. *)
Theorem collapse_limit (R : archiFieldType) (r : nat -> R) c :
  0 < c -> 0 < r 0%N -> (forall l, r l.+1 = c * r l ^+ 3) ->
  tends_to_0 r <-> c * r 0%N ^+ 2 < 1.
Proof.
move=> c0 r0 step.
have r_gt0 l : 0 < r l by elim: l => // l IH; rewrite step mulr_gt0 ?exprn_gt0.
split=> [/(_ (1 + c)^-1)[] | small eps eps0].
- by rewrite invr_gt0 addr_gt0 ?ltr01.
- move=> l /(_ l (leqnn l)) lt_r; rewrite ltNge; apply/negP => big.
  have := exprn_ege1 (3 ^ l) big; rewrite -(collapse_square l step) leNgt => /negP[].
  have c1 : 0 < 1 + c by rewrite addr_gt0 ?ltr01.
  apply: (@lt_trans _ _ (c * (1 + c)^-1 ^+ 2)).
    by rewrite ltr_pM2l // ltrXn2r ?nnegrE ?ltW // invr_gt0.
  rewrite exprVn ltr_pdivrMr ?exprn_gt0 // mul1r.
  have -> : (1 + c) ^+ 2 = c + (1 + c + c ^+ 2) by ring.
  by rewrite ltrDl !addr_gt0 ?ltr01 ?exprn_gt0.
set x := c * _ in small; have x0 : 0 < x by rewrite mulr_gt0 ?exprn_gt0.
have closed L : r L = x ^+ cubic_exponent L * r 0%N.
  rewrite (collapse_condition L step) /x -cubic_exponentP expr_odd !exprMn.
  by move: (c ^+ cubic_exponent L) (r 0%N ^+ cubic_exponent L) => a b; ring.
pose h := x^-1 - 1; have h0 : 0 < h by rewrite subr_gt0 invf_gt1.
pose b := r 0%N / eps / h; have b0 : 0 <= b by rewrite !divr_ge0 ?ltW.
exists (Num.bound b) => L le_L; rewrite closed.
apply: (@le_lt_trans _ _ (x ^+ L * r 0%N)).
  by rewrite ler_pM2r // ler_wiXn2l ?cubic_exponent_ge ?ltW.
have power : r 0%N / eps < x^-1 ^+ L.
  have -> : x^-1 = 1 + h by rewrite /h; ring.
  apply: lt_le_trans (bernoulli L (ltW h0)).
  apply: (@lt_trans _ _ (h *+ L)); last by rewrite ltrDr ltr01.
  rewrite -mulr_natl -ltr_pdivrMr // (lt_le_trans (archi_boundP b0)) //.
  by rewrite ler_nat.
move: power; rewrite exprVn ltr_pdivrMr // mulrC ltr_pdivlMr ?exprn_gt0 //.
by rewrite mulrC.
Qed.

(* --- the hypotheses can be met: recursions --- *)

(* Coefficients 1, 2, 3, one for each layer, from 2; and bounds k_l that are larger than
   what the layers do: those of cubic_from 2 are all 2. *)
Fixpoint rising (R : realFieldType) (l : nat) : R :=
  if l is j.+1 then j.+1%:R * rising R j ^+ 3 else 2%:R.

Example layers_product_met (R : realFieldType) :
  rising R 3 = 2%:R ^+ 3 * 3%:R * 2%:R ^+ 27 /\
  forall L, cubic_from (2%:R : R) 1 L <= \prod_(l < L) l.+2%:R ^+ (3 ^ (L - l.+1)).
Proof.
split=> [|L].
  rewrite (layers_product_equal (r := rising R) (k := fun l => l.+1%:R)) //.
  by rewrite !big_ord_recl big_ord0 /= expr1n mul1r mulr1.
have r0 l : 0 <= cubic_from (2%:R : R) 1 l by apply: cubic_from_ge0; rewrite ?ler01 ?ler0n.
have := @layers_product R (cubic_from 2%:R 1) (fun l => l.+2%:R) L.
rewrite expr1n mulr1; apply=> l _; rewrite ?ler0n ?r0 // cubic_from_met.
by rewrite ler_wpM2r ?exprn_ge0 // ler_nat.
Qed.

(* The recursion r_(l+1) = 2 r_l^3 from 1: 1, 2, 16, 8192; and below a coefficient 3. *)
Example cubic_from_values (R : realFieldType) L :
  cubic_from (2%:R : R) 1 L = 2%:R ^+ cubic_exponent L /\
  2%:R * cubic_from (2%:R : R) 1 L ^+ 2 = 2%:R ^+ (3 ^ L) /\
  cubic_from (2%:R : R) 1 L <= 3%:R ^+ cubic_exponent L.
Proof.
have r0 l : 0 <= cubic_from (2%:R : R) 1 l by apply: cubic_from_ge0; rewrite ?ler01 ?ler0n.
split; first by rewrite (collapse_condition (c := 2%:R)) // expr1n mulr1.
split; first by rewrite (collapse_square (c := 2%:R)) // expr1n mulr1.
have := @layers_uniform R (cubic_from 2%:R 1) 3%:R L; rewrite expr1n mulr1.
apply=> [|//|l _]; first exact: ler0n.
by rewrite cubic_from_met ler_wpM2r ?exprn_ge0 // ler_nat.
Qed.

(* Two layers: exponents 4 and 9 bound, 3 and 9 do not. *)
Example layers_uniform_sharp_met (R : realFieldType) :
  let bounds (e b : nat) := forall (r : nat -> R) c, 0 <= c -> (forall l, 0 <= r l) ->
    (forall l, r l.+1 <= c * r l ^+ 3) -> r 2%N <= c ^+ e * r 0%N ^+ b in
  bounds 4%N 9%N /\ ~ bounds 3%N 9%N.
Proof.
split=> [r c c0 r0 step | /layers_uniform_sharp[]] //.
by apply: (layers_uniform c0 r0) => l _; apply: step.
Qed.

(* Layers that take half of the cube, from 1/2: their coefficient is between 1/3 and 1. *)
Example doubly_exponential_met (R : realFieldType) L :
  let r := cubic_from (2%:R^-1 : R) 2%:R^-1 in
  3%:R^-1 ^+ cubic_exponent L * 2%:R^-1 ^+ (3 ^ L) <= r L /\ r L <= 2%:R^-1 ^+ (3 ^ L).
Proof.
move=> r; have half0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
have r0 l : 0 <= r l by apply: cubic_from_ge0.
apply: (doubly_exponential_between (r := r)) => [||l _] //; first by rewrite invr_ge0 ler0n.
split; first by rewrite ler_wpM2r ?exprn_ge0 // lef_pV2 ?posrE ?ltr0n // ler_nat.
by rewrite ler_piMl ?exprn_ge0 // invf_le1 ?ltr0n // ler1n.
Qed.

(* With coefficient 2, and so sqrt(2)/2 < 1 at the start, from 1/2. *)
Example collapse_root_met (R : rcfType) L :
  Num.sqrt 2%:R * cubic_from (2%:R : R) 2%:R^-1 L = (Num.sqrt 2%:R / 2%:R) ^+ (3 ^ L).
Proof. exact: (collapse_root L (ler0n R 2) (fun l => erefl (cubic_from 2%:R 2%:R^-1 l.+1))). Qed.

(* From 1/2 it tends to 0; from 1, where 2 r_0^2 is not below 1, it does not. *)
Example collapse_limit_met :
  tends_to_0 (cubic_from (2%:R : rat) 2%:R^-1) /\ ~ tends_to_0 (cubic_from (2%:R : rat) 1).
Proof.
have limit x0 : 0 < x0 -> tends_to_0 (cubic_from (2%:R : rat) x0) <-> 2%:R * x0 ^+ 2 < 1.
  by move=> x00; apply: (@collapse_limit _ (cubic_from 2%:R x0)).
by split; [apply/limit | move/limit => /(_ isT)].
Qed.

(* --- products of attention matrices --- *)

Section Masks.

Variables (R : realFieldType) (n : nat).
Implicit Types (P Q : 'M[R]_n) (A : nat -> 'M[R]_n) (eps : R).

Lemma stochastic_le1 P i k : stochastic P -> P i k <= 1.
Proof.
by case=> P0 P1; rewrite -(P1 i) (bigD1 k) //= lerDl; apply: sumr_ge0 => *; apply: P0.
Qed.

Lemma stochastic1 : stochastic (1%:M : 'M[R]_n).
Proof.
split=> [i k | i]; first by rewrite mxE ler0n.
rewrite (bigD1 i) //= mxE eqxx big1 ?addr0 // => k ki; by rewrite mxE eq_sym (negPf ki).
Qed.

Lemma stochasticM P Q : stochastic P -> stochastic Q -> stochastic (P *m Q).
Proof.
move=> [P0 P1] [Q0 Q1]; split=> [i k | i].
  by rewrite mxE; apply: sumr_ge0 => m _; apply: mulr_ge0.
under eq_bigr do rewrite mxE; rewrite exchange_big /= -[RHS](P1 i); apply: eq_bigr => m _.
by rewrite -mulr_sumr Q1 mulr1.
Qed.

Lemma product_stochastic A L : (forall l, stochastic (A l)) -> stochastic (attention_product A L).
Proof. by move=> sA; elim: L => [|L IH]; [apply: stochastic1 | apply: stochasticM]. Qed.

Lemma product_add A s L :
  attention_product A (L + s) = attention_product (fun l => A (l + s)%N) L *m attention_product A s.
Proof. by elim: L => [|L IH]; rewrite ?mul1mx //= IH mulmxA. Qed.

(* A path of s edges of the mask weighs at least eps^s. *)
Lemma product_entry A eps (mask : rel 'I_n) centre s i :
  0 <= eps -> (forall l, stochastic (A l)) -> (forall l, pays eps mask (A l)) ->
  reaches mask centre s i -> eps ^+ s <= attention_product A s i centre.
Proof.
move=> eps0 sA pay; elim: s i => [|s IH] i /=; first by move/eqP->; rewrite mxE eqxx.
case/existsP=> k /andP[ik kc]; rewrite mxE (bigD1 k) //= exprS.
apply: le_trans (ler_pM eps0 (exprn_ge0 _ eps0) (pay s i k ik) (IH k kc)) _.
rewrite lerDl; apply: sumr_ge0 => m _.
by apply: mulr_ge0; [apply: (sA s).1 | apply: (product_stochastic _ sA).1].
Qed.

(* With self-loops, what is reached within r steps is reached in r steps. *)
Lemma reaches_within (mask : rel 'I_n) centre s r i :
  reflexive mask -> (s <= r)%N -> reaches mask centre s i -> reaches mask centre r i.
Proof.
move=> loops /subnKC <-; rewrite addnC; elim: (r - s)%N => //= k IH /IH reached.
by apply/existsP; exists i; rewrite loops.
Qed.

(* --- the spread --- *)

Lemma spread_ge0 d (X : 'M[R]_(n, d)) : 0 <= spread X.
Proof. by rewrite /spread; elim: [seq _ | _ <- _] => //= x s IH; rewrite le_max IH orbT. Qed.

Lemma spread_ge d (X : 'M[R]_(n, d)) i j k : X i k - X j k <= spread X.
Proof.
pose F (p : 'I_n * 'I_n * 'I_d) := X p.1.1 p.2 - X p.1.2 p.2.
rewrite /spread -/F; have : F (i, j, k) \in map F (enum {: 'I_n * 'I_n * 'I_d}).
  by apply: map_f; rewrite mem_enum.
elim: (map F _) => //= x s IH; rewrite inE le_max => /predU1P[<-|/IH ->]; last exact: orbT.
by rewrite lexx.
Qed.

Lemma spread_le d (X : 'M[R]_(n, d)) b :
  0 <= b -> (forall i j k, X i k - X j k <= b) -> spread X <= b.
Proof.
move=> b0 le_b; rewrite /spread; elim: (enum _) => //= p s IH.
by rewrite ge_max IH le_b.
Qed.

(* Doeblin's contraction: if every row of a stochastic matrix has weight at least delta on one
   common column, the spread of the averages is at most 1 - delta times that of the tokens. *)
Theorem doeblin_spread P centre delta d (X : 'M[R]_(n, d)) :
  stochastic P -> (forall i, delta <= P i centre) -> spread (P *m X) <= (1 - delta) * spread X.
Proof.
move=> sP common; have [P0 P1] := sP.
have delta1 : 0 <= 1 - delta by rewrite subr_ge0 (le_trans (common centre)) ?stochastic_le1.
apply: spread_le => [|i j k]; first by rewrite mulr_ge0 ?spread_ge0.
have [hi _ hiP] := (@arg_maxP _ _ _ centre predT (fun m => X m k) isT).
have [lo _ loP] := (@arg_minP _ _ _ centre predT (fun m => X m k) isT).
have above m : 0 <= X hi k - X m k by rewrite subr_ge0; apply: hiP.
have below m : 0 <= X m k - X lo k by rewrite subr_ge0; apply: loP.
have top : delta * (X hi k - X centre k) <= X hi k - (P *m X) i k.
  have -> : X hi k - (P *m X) i k = \sum_m P i m * (X hi k - X m k).
    under [RHS]eq_bigr do rewrite mulrBr.
    by rewrite sumrB -mulr_suml P1 mul1r mxE.
  rewrite (bigD1 centre) //= (le_trans (ler_wpM2r (above _) (common i))) // lerDl.
  by apply: sumr_ge0 => m _; rewrite mulr_ge0.
have bottom : delta * (X centre k - X lo k) <= (P *m X) j k - X lo k.
  have -> : (P *m X) j k - X lo k = \sum_m P j m * (X m k - X lo k).
    under [RHS]eq_bigr do rewrite mulrBr.
    by rewrite sumrB -mulr_suml P1 mul1r mxE.
  rewrite (bigD1 centre) //= (le_trans (ler_wpM2r (below _) (common j))) // lerDl.
  by apply: sumr_ge0 => m _; rewrite mulr_ge0.
apply: le_trans (ler_wpM2l delta1 (spread_ge X hi lo k)).
move: top bottom; move: ((P *m X) i k) ((P *m X) j k) (X hi k) (X lo k) (X centre k).
move=> a b high low c top bottom; rewrite -subr_ge0.
have -> : (1 - delta) * (high - low) - (a - b) =
          (high - a - delta * (high - c)) + (b - low - delta * (c - low)) by ring.
by rewrite addr_ge0 ?subr_ge0.
Qed.

Lemma spread_nonexpansive P d (X : 'M[R]_(n, d)) : stochastic P -> spread (P *m X) <= spread X.
Proof.
move=> sP; case: (posnP n) => [n0 | n_gt0].
  by apply: spread_le => [|i]; [apply: spread_ge0 | have := ltn_ord i; rewrite {2}n0].
have := @doeblin_spread P (Ordinal n_gt0) 0 d X sP; rewrite subr0 mul1r; apply=> i.
exact: sP.1.
Qed.

(* Claim: rank_collapse/mask_exponential. Tokens of any width, value matrix 1: for every mask
   through which all tokens reach one centre in r steps, and attention matrices, different in each
   layer, that pay at least eps along its edges, the spread falls by (1 - eps^r)^(L / r) or more.
   The claim's object itself, measured there at width one. Self-loops are needed only to turn
   "within r steps" into "in r steps", see reaches_within. *)
Theorem mask_exponential A eps (mask : rel 'I_n) centre r L d (X : 'M[R]_(n, d)) :
  0 <= eps -> (forall l, stochastic (A l)) -> (forall l, pays eps mask (A l)) ->
  (forall i, reaches mask centre r i) ->
  spread (attention_product A L *m X) <= (1 - eps ^+ r) ^+ (L %/ r) * spread X.
Proof.
move=> eps0 sA pay reach.
have entry B : (forall l, stochastic (B l)) -> (forall l, pays eps mask (B l)) ->
    forall i, eps ^+ r <= attention_product B r i centre.
  by move=> sB payB i; apply: product_entry (reach i).
have le1 : 0 <= 1 - eps ^+ r.
  rewrite subr_ge0 (le_trans (entry A sA pay centre)) ?stochastic_le1 //.
  exact: product_stochastic.
have blocks q : spread (attention_product A (q * r) *m X) <= (1 - eps ^+ r) ^+ q * spread X.
  elim: q => [|q IH]; first by rewrite mul0n mul1r mul1mx.
  rewrite mulSn product_add -mulmxA exprS -mulrA.
  apply: le_trans (ler_wpM2l le1 IH); apply: (@doeblin_spread _ centre).
    exact: product_stochastic.
  exact: entry.
rewrite {1}(divn_eq L r) addnC product_add -mulmxA.
apply: le_trans (blocks _); apply: spread_nonexpansive; exact: product_stochastic.
Qed.

(* mask_exponential as the claim words it: with self-loops, and a centre within r steps, the spread
   falls by (1 - eps^r)^(L / r) or more. *)
Theorem mask_exponential_within A eps (mask : rel 'I_n) centre r L d (X : 'M[R]_(n, d)) :
  0 <= eps -> (forall l, stochastic (A l)) -> (forall l, pays eps mask (A l)) ->
  reflexive mask -> (forall i, exists2 s, (s <= r)%N & reaches mask centre s i) ->
  spread (attention_product A L *m X) <= (1 - eps ^+ r) ^+ (L %/ r) * spread X.
Proof.
move=> eps0 sA pay loops reach; apply: mask_exponential (eps0) sA pay _ => i.
by have [s le_sr] := reach i; apply: reaches_within.
Qed.

(* --- the tail: causal masks --- *)

Lemma tail_ge0 P j i : stochastic P -> 0 <= tail P j i.
Proof. by move=> [P0 _]; apply: sumr_ge0. Qed.

Lemma tail_le1 P j i : stochastic P -> tail P j i <= 1.
Proof.
move=> [P0 P1]; rewrite -(P1 i) [leRHS](bigID (fun m : 'I_n => (j <= m)%N)) /= lerDl.
exact: sumr_ge0.
Qed.

(* The first j rows put no weight on positions from j on. *)
Definition closed (j : nat) (P : 'M[R]_n) : Prop :=
  forall i m : 'I_n, (i < j)%N -> (j <= m)%N -> P i m = 0.

Lemma tailM P Q j i : closed j Q ->
  tail (P *m Q) j i = \sum_(m < n | (j <= m)%N) P i m * tail Q j m.
Proof.
move=> closedQ; rewrite /tail; under eq_bigr do rewrite mxE; rewrite exchange_big /=.
rewrite [LHS](bigID (fun m : 'I_n => (j <= m)%N)) /= [X in _ + X]big1 ?addr0.
  by apply: eq_bigr => m _; rewrite mulr_sumr.
move=> m; rewrite -ltnNge => mj; apply: big1 => k jk.
by rewrite (closedQ _ _ mj jk) mulr0.
Qed.

Lemma closed_product A j L : (forall l, closed j (A l)) -> closed j (attention_product A L).
Proof.
move=> cA; elim: L => [|L IH] i m ij jm /=.
  by rewrite mxE; case: eqP => // eq_im; move: ij; rewrite eq_im ltnNge jm.
rewrite mxE; apply: big1 => k _; case: (ltnP k j) => jk; first by rewrite (IH k m) ?mulr0.
by rewrite (cA L i k) ?mul0r.
Qed.

Lemma tail_entries P j i delta : stochastic P -> (j <= n)%N ->
  (forall m : 'I_n, (m < j)%N -> delta <= P i m) -> tail P j i <= 1 - delta *+ j.
Proof.
move=> [P0 P1] jn entries; rewrite -(P1 i) [in leRHS](bigID (fun m : 'I_n => (j <= m)%N)) /=.
rewrite -addrA lerDl subr_ge0.
under eq_bigl do rewrite -ltnNge; rewrite (big_ord_narrow jn) /=.
have -> : delta *+ j = \sum_(m < j) delta by rewrite big_const_ord iter_addr_0.
by apply: ler_sum => m _; apply: entries (widen_ord jn m) (ltn_ord m).
Qed.

(* The tail for any mask: where the first j positions see only each other, and every later one
   reaches each of them in r steps, the weight on the later ones is at most (1 - j eps^r)^(L /
   r). *)
Theorem tail_decay A eps (mask : rel 'I_n) r j L i :
  0 <= eps -> (j < n)%N -> (forall l, stochastic (A l)) -> (forall l, pays eps mask (A l)) ->
  (forall l, closed j (A l)) ->
  (forall k p : 'I_n, (p < j)%N -> (j <= k)%N -> reaches mask p r k) ->
  tail (attention_product A L) j i <= (1 - eps ^+ r *+ j) ^+ (L %/ r).
Proof.
move=> eps0 jn sA pay closedA reach; set c := 1 - _.
have block B (k : 'I_n) : (forall l, stochastic (B l)) -> (forall l, pays eps mask (B l)) ->
    (j <= k)%N -> tail (attention_product B r) j k <= c.
  move=> sB payB jk; apply: tail_entries; [exact: product_stochastic | exact: ltnW |].
  by move=> p pj; apply: product_entry (reach k p pj jk).
have c0 : 0 <= c.
  apply: le_trans (block A (Ordinal jn) sA pay (leqnn j)).
  exact: tail_ge0 (product_stochastic _ sA).
have blocks q k : tail (attention_product A (q * r)) j k <= c ^+ q.
  elim: q k => [|q IH] k; first exact: tail_le1 stochastic1.
  rewrite mulSn product_add tailM; last exact: closed_product.
  set B := attention_product _ r.
  have sB : stochastic B by apply: product_stochastic.
  apply: (@le_trans _ _ (tail B j k * c ^+ q)).
    rewrite mulr_suml; apply: ler_sum => m _; apply: ler_wpM2l; [exact: sB.1 | exact: IH].
  rewrite exprS ler_wpM2r ?exprn_ge0 //; case: (leqP j k) => jk; first exact: block.
  rewrite [tail _ _ _]big1 // => m jm; apply: closed_product jk jm => l; exact: closedA.
rewrite {1}(divn_eq L r) addnC product_add tailM; last exact: closed_product.
set B := attention_product _ (L %% r).
have sB : stochastic B by apply: product_stochastic.
apply: (@le_trans _ _ (tail B j i * c ^+ (L %/ r))).
  rewrite mulr_suml; apply: ler_sum => m _; apply: ler_wpM2l; [exact: sB.1 | exact: blocks].
by rewrite ler_piMl ?exprn_ge0 ?tail_le1.
Qed.

(* ceil((n - 1)/(w - 1)), steps after which a token has reached all before through a window of w. *)
Definition window_steps (tokens w : nat) : nat := (tokens.-1 + w.-2) %/ w.-1.

Lemma window_steps_enough tokens w :
  (1 < w)%N -> (tokens.-1 <= window_steps tokens w * w.-1)%N.
Proof.
case: w => [|[|w]] // _; rewrite /window_steps -[w.+2.-2]/w -[w.+2.-1]/w.+1.
move: tokens.-1 => a; have := ltn_pmod (a + w) (ltn0Sn w); have := divn_eq (a + w) w.+1.
move: ((a + w) %/ w.+1)%N ((a + w) %% w.+1)%N => q m; lia.
Qed.

Lemma window_reaches w s (p i : 'I_n) :
  (p <= i)%N -> (i <= p + s * w.-1)%N -> (0 < w)%N -> reaches (window w) p s i.
Proof.
move=> + + w0; elim: s i => [|s IH] i pi.
  by rewrite mul0n addn0 => ip; apply/eqP/val_inj/eqP; rewrite /= eqn_leq pi ip.
rewrite mulSn => near.
have lt_k : (maxn p (i - w.-1) < n)%N by rewrite gtn_max ltn_ord (leq_ltn_trans (leq_subr _ _)).
apply/existsP; exists (Ordinal lt_k); rewrite /window /= -andbA; apply/and3P.
split; [lia | lia |].
apply: IH => /=; first exact: leq_maxl.
by rewrite geq_max leq_addr leq_subLR addnCA.
Qed.

(* Claim: rank_collapse/position_bias. Causal attention with a window of w >= 2 tokens and entries
   at least eps inside it: every row of the product of L matrices puts at most (1 - j eps^r)^(L /
   r) on the positions after the first j, r = ceil((n - 1)/(w - 1)); the claim's j is this one plus
   1. The claim's object itself, and a matrix for each layer. *)
Theorem position_bias A eps w j L i :
  0 <= eps -> (j < n)%N -> (1 < w)%N -> (forall l, stochastic (A l)) ->
  (forall l (k m : 'I_n), (k < m)%N -> A l k m = 0) -> (forall l, pays eps (window w) (A l)) ->
  let r := window_steps n w in
  tail (attention_product A L) j i <= (1 - eps ^+ r *+ j) ^+ (L %/ r).
Proof.
move=> eps0 jn w1 sA causal pay.
apply: (tail_decay (mask := window w)) => // [l k m kj jm | k p pj jk].
  by apply: causal; apply: leq_trans jm.
apply: window_reaches; rewrite ?(ltnW w1) ?(leq_trans (ltnW pj)) //.
rewrite (leq_trans _ (leq_addl _ _)) // (leq_trans _ (window_steps_enough _ w1)) //.
by rewrite -ltnS (leq_trans (ltn_ord k)) // leqSpred.
Qed.

(* A prefix of j tokens that see each other, causal after it: one step reaches the whole prefix, and
   at most (1 - j eps)^L of the weight is on the tokens after it. *)
Theorem position_bias_prefix A eps j L i :
  0 <= eps -> (j < n)%N -> (forall l, stochastic (A l)) ->
  (forall l (k m : 'I_n), (k < m)%N -> (j <= m)%N -> A l k m = 0) ->
  (forall l (k m : 'I_n), (m <= k)%N || (m < j)%N -> eps <= A l k m) ->
  tail (attention_product A L) j i <= (1 - eps *+ j) ^+ L.
Proof.
move=> eps0 jn sA causal pay.
have := @tail_decay A eps (fun k m => (m <= k)%N || (m < j)%N) 1 j L i.
rewrite divn1 expr1; apply=> // [l k m kj jm | k p pj jk].
  by apply: causal => //; apply: leq_trans jm.
by apply/existsP; exists p; rewrite eqxx pj orbT.
Qed.

(* That bound is attained, with the full causal mask, by every net in which token j pays exactly eps
   to each token before it: the token keeps exactly (1 - j eps)^L. *)
Theorem position_bias_attained A eps j L (i : 'I_n) :
  i = j :> nat -> (forall l, stochastic (A l)) ->
  (forall l (k m : 'I_n), (k < m)%N -> A l k m = 0) ->
  (forall l (m : 'I_n), (m < j)%N -> A l i m = eps) ->
  tail (attention_product A L) j i = (1 - eps *+ j) ^+ L.
Proof.
move=> ij sA causal pay; have jn : (j <= n)%N by rewrite -ij ltnW.
have closedA l : closed j (A l) by move=> k m kj jm; apply: causal; apply: leq_trans jm.
have tail1 P : stochastic P -> (forall m : 'I_n, (m < j)%N -> P i m = eps) ->
    tail P j i = 1 - eps *+ j.
  move=> [_ P1] row; rewrite -(P1 i) [in RHS](bigID (fun m : 'I_n => (j <= m)%N)) /=.
  rewrite -addrA -[LHS]addr0; congr (_ + _); apply/esym/eqP; rewrite subr_eq0; apply/eqP.
  under eq_bigl do rewrite -ltnNge; rewrite (big_ord_narrow jn) /=.
  have -> : eps *+ j = \sum_(m < j) eps by rewrite big_const_ord iter_addr_0.
  by apply: eq_bigr => m _; apply: row (widen_ord jn m) (ltn_ord m).
elim: L => [|L IH].
  rewrite /tail (bigD1 i) ?ij //= mxE eqxx big1 ?addr0 // => m /andP[_ mi].
  by rewrite mxE eq_sym (negPf mi).
rewrite /= tailM ?exprS; last exact: closed_product.
rewrite (bigD1 i) ?ij //= IH big1 ?addr0; last first.
  move=> m /andP[jm mi]; rewrite causal ?mul0r // ltn_neqAle ij jm andbT.
  by apply: contra mi => /eqP jm'; apply/eqP/val_inj; rewrite /= ij.
congr (_ * _); transitivity (tail (A L) j i); last by apply: tail1 => //; apply: pay.
rewrite /tail (bigD1 i) ?ij //= big1 ?addr0 // => m /andP[jm mi].
rewrite causal // ltn_neqAle ij jm andbT.
by apply: contra mi => /eqP jm'; apply/eqP/val_inj; rewrite /= ij.
Qed.

End Masks.

(* --- a concrete net, and sharpness --- *)

(* Two tokens: the second pays eps to the first, and the rest to itself. *)
Section Pair.

Variables (R : realFieldType) (eps : R).
Hypotheses (eps0 : 0 <= eps) (eps1 : eps <= 1).

Definition pair_attention : 'M[R]_2 :=
  \matrix_(i, k) if i == ord0 then (k == ord0)%:R else if k == ord0 then eps else 1 - eps.

Definition pair_tokens : 'cV[R]_2 := \col_i (i != ord0)%:R.

(* Every token sees the first. *)
Definition sees_first : rel 'I_2 := fun _ k => k == ord0.

Lemma pair_stochastic : stochastic pair_attention.
Proof.
split=> [i k | i]; first by rewrite mxE; do 2?case: ifP => _; rewrite ?ler0n ?subr_ge0.
rewrite big_ord_recl big_ord1 !mxE /=; case: ifP => _; first by rewrite addr0.
by rewrite addrC subrK.
Qed.

Lemma pair_pays : pays eps sees_first pair_attention.
Proof. by move=> i k /eqP->; rewrite mxE; case: ifP. Qed.

Lemma pair_reaches i : reaches sees_first ord0 1 i.
Proof. by apply/existsP; exists ord0; rewrite /sees_first eqxx. Qed.

Lemma pair_product L i :
  (attention_product (fun=> pair_attention) L *m pair_tokens) i 0 =
  if i == ord0 then 0 else (1 - eps) ^+ L.
Proof.
elim: L i => [|L IH] i; first by rewrite mul1mx mxE; case: ifP.
rewrite /= -mulmxA mxE big_ord_recl big_ord1 !IH !mxE /= mulr0 add0r.
by case: ifP => _; rewrite ?mul0r // exprS.
Qed.

(* The bound of mask_exponential is attained at every depth: two tokens, of which the second pays
   eps to the first, at the centre. *)
Theorem mask_exponential_attained L :
  spread (attention_product (fun=> pair_attention) L *m pair_tokens) =
  (1 - eps ^+ 1) ^+ (L %/ 1) * spread pair_tokens.
Proof.
have at_most : spread pair_tokens <= 1.
  apply: spread_le => // i j k; rewrite !mxE lerBlDr.
  apply: (@le_trans _ _ 1); last by rewrite lerDl ler0n.
  by rewrite -[1]/(1%:R) ler_nat leq_b1.
have at_least := spread_ge (attention_product (fun=> pair_attention) L *m pair_tokens)
                   (lift ord0 ord0) ord0 0.
rewrite !pair_product /= subr0 in at_least.
apply/eqP; rewrite eq_le; apply/andP; split.
  apply: (mask_exponential (mask := sees_first) (centre := ord0)) => // [_ | _ |].
  - exact: pair_stochastic.
  - exact: pair_pays.
  - exact: pair_reaches.
rewrite divn1 expr1; apply: le_trans at_least.
by rewrite ler_piMr // exprn_ge0 // subr_ge0.
Qed.

End Pair.

(* --- the hypotheses can be met: attention --- *)

(* Even attention: every token pays the same to all that its mask shows it. *)
Section Even.

Variables (R : realFieldType) (n : nat) (mask : rel 'I_n).

Definition seen (i : 'I_n) : nat := \sum_(k < n) mask i k.
Definition even_attention : 'M[R]_n := \matrix_(i, k) ((mask i k)%:R / (seen i)%:R).

Lemma seen_gt0 : reflexive mask -> forall i, (0 < seen i)%N.
Proof. by move=> loops i; rewrite /seen (bigD1 i) //= loops. Qed.

Lemma even_stochastic : reflexive mask -> stochastic even_attention.
Proof.
move=> loops; split=> [i k | i]; first by rewrite mxE divr_ge0 ?ler0n.
under eq_bigr do rewrite mxE; rewrite -mulr_suml -natr_sum divff // pnatr_eq0 -lt0n.
exact: seen_gt0.
Qed.

Lemma even_pays d : reflexive mask -> (forall i, seen i <= d)%N ->
  pays d%:R^-1 mask even_attention.
Proof.
move=> loops few i k ik; rewrite mxE ik mul1r; have s0 := seen_gt0 loops i.
by rewrite lef_pV2 ?posrE ?ltr0n // ?ler_nat // (leq_trans s0).
Qed.

Lemma even_hidden i k : mask i k = false -> even_attention i k = 0.
Proof. by rewrite mxE => ->; rewrite mul0r. Qed.

End Even.

Lemma window_reflexive n w : (0 < w)%N -> reflexive (@window n w).
Proof. by move=> w0 i; rewrite /window leqnn /= -[X in (X < _)%N]addn0 ltn_add2l. Qed.

(* Three tokens, each of which sees itself and the one before it. *)
Definition stepping (R : realFieldType) : 'M[R]_3 := even_attention R (window 2).

Lemma stepping_stochastic (R : realFieldType) : stochastic (stepping R).
Proof. exact/even_stochastic/window_reflexive. Qed.

Lemma stepping_pays (R : realFieldType) : pays 2%:R^-1 (window 2) (stepping R).
Proof.
apply: even_pays; first exact: window_reflexive.
by move=> [[|[|[]]] ?] //; rewrite /seen !big_ord_recl big_ord0.
Qed.

Lemma stepping_causal (R : realFieldType) (k m : 'I_3) : (k < m)%N -> stepping R k m = 0.
Proof. by move=> km; apply: even_hidden; rewrite /window leqNgt km. Qed.

Lemma stepping_centre (i : 'I_3) : exists2 s, (s <= 2)%N & reaches (window 2) ord0 s i.
Proof.
by exists i; [rewrite -ltnS | apply: window_reaches]; rewrite //= add0n muln1.
Qed.

(* Two steps reach the first token from each: six layers leave at most 27/64 of the spread. *)
Example mask_exponential_met (R : realFieldType) d (X : 'M[R]_(3, d)) :
  spread (attention_product (fun=> stepping R) 6 *m X) <= (3%:R / 4%:R) ^+ 3 * spread X.
Proof.
have half0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
have reach (i : 'I_3) : reaches (window 2) ord0 2 i.
  by apply: window_reaches; rewrite //= add0n muln1 -ltnS.
have := mask_exponential 6 X half0 (fun=> stepping_stochastic R) (fun=> stepping_pays R) reach.
by have -> : 1 - 2%:R^-1 ^+ 2 = 3%:R / 4%:R :> R by field.
Qed.

(* Six layers leave at most 27/64 of the weight on the tokens after the first, and 1/8 on the last
   alone. *)
Example position_bias_met (R : realFieldType) i :
  tail (attention_product (fun=> stepping R) 6) 1 i <= (3%:R / 4%:R) ^+ 3 /\
  tail (attention_product (fun=> stepping R) 6) 2 i <= 2%:R^-1 ^+ 3.
Proof.
have half0 : 0 <= 2%:R^-1 :> R by rewrite invr_ge0 ler0n.
have bound j (jn : (j < 3)%N) := position_bias 6 i half0 jn (isT : (1 < 2)%N)
  (fun=> stepping_stochastic R) (fun=> @stepping_causal R) (fun=> stepping_pays R).
split; [have := bound 1%N isT | have := bound 2%N isT]; lazy zeta.
  have -> : 1 - 2%:R^-1 ^+ window_steps 3 2 *+ 1 = 3%:R / 4%:R :> R by rewrite mulr1n; field.
  by [].
by have -> : 1 - 2%:R^-1 ^+ window_steps 3 2 *+ 2 = 2%:R^-1 :> R by rewrite -mulr_natr; field.
Qed.


(* A prefix of two tokens that see each other, and a third that sees all: even attention pays at
   least 1/3, and the third keeps at most a third of its weight with every layer. *)
Definition prefix_mask : rel 'I_3 := fun k m => (m <= k)%N || (m < 2)%N.

Example position_bias_prefix_met (R : realFieldType) L i :
  tail (attention_product (fun=> even_attention R prefix_mask) L) 2 i <= 3%:R^-1 ^+ L.
Proof.
have loops : reflexive prefix_mask by move=> k; rewrite /prefix_mask leqnn.
have third0 : 0 <= 3%:R^-1 :> R by rewrite invr_ge0 ler0n.
have pay := @even_pays R 3 prefix_mask 3 loops.
have -> : 3%:R^-1 = 1 - 3%:R^-1 *+ 2 :> R by rewrite -mulr_natr; field.
apply: position_bias_prefix => // _ => [|k m km m2|k m km]; first exact: even_stochastic.
  by apply: even_hidden; rewrite /prefix_mask leqNgt km ltnNge m2.
apply: pay km => p; rewrite /seen !big_ord_recl big_ord0 addn0.
exact: leq_add (leq_b1 _) (leq_add (leq_b1 _) (leq_b1 _)).
Qed.

(* Even causal attention: the third of three tokens pays 1/3 to both before it, and keeps exactly
   3^-L. *)
Definition causal_mask : rel 'I_3 := fun k m => (m <= k)%N.

Example position_bias_attained_met (R : realFieldType) L :
  tail (attention_product (fun=> even_attention R causal_mask) L) 2 ord_max = 3%:R^-1 ^+ L.
Proof.
have loops : reflexive causal_mask by move=> k; apply: leqnn.
rewrite (@position_bias_attained R 3 _ 3%:R^-1 2 L ord_max) // => [|_|_ k m km|_ m m2].
- by congr (_ ^+ _); rewrite -mulr_natr; field.
- exact: even_stochastic.
- by apply: even_hidden; rewrite /causal_mask leqNgt km.
rewrite mxE /causal_mask (ltnW m2) mul1r; congr (_%:R^-1).
by rewrite /seen !big_ord_recl big_ord0.
Qed.

(* Within one step all of them see the first: 2/3 of the spread is left by each layer, or less. *)
Example mask_exponential_within_met (R : realFieldType) L d (X : 'M[R]_(3, d)) :
  spread (attention_product (fun=> even_attention R causal_mask) L *m X)
  <= (2%:R / 3%:R) ^+ L * spread X.
Proof.
have loops : reflexive causal_mask by move=> k; apply: leqnn.
have third0 : 0 <= 3%:R^-1 :> R by rewrite invr_ge0 ler0n.
have -> : 2%:R / 3%:R = 1 - 3%:R^-1 ^+ 1 :> R by field.
rewrite -[L in leRHS]divn1.
apply: (@mask_exponential_within _ _ _ _ causal_mask ord0) => // [_|_|i].
- exact: even_stochastic.
- apply: even_pays => // p; rewrite /seen !big_ord_recl big_ord0 addn0.
  exact: leq_add (leq_b1 _) (leq_add (leq_b1 _) (leq_b1 _)).
have [i0|] := posnP i; first by exists 0%N; last apply/eqP/val_inj.
by exists 1%N => //; apply/existsP; exists ord0; rewrite eqxx andbT.
Qed.

(* Two tokens, the second of which pays half to the first. *)
Section Half.

Variable R : realFieldType.

Let half : R := 2%:R^-1.

Let half0 : 0 <= half. Proof. by rewrite invr_ge0 ler0n. Qed.
Let half1 : half <= 1. Proof. by rewrite invf_le1 ?ltr0n // ler1n. Qed.
Let rest : 1 - half = half. Proof. by rewrite /half; field. Qed.

Lemma pair_spread : spread (pair_tokens R) = 1.
Proof.
apply/eqP; rewrite eq_le; apply/andP; split.
  apply: spread_le => [|i j k]; rewrite ?ler01 // !mxE lerBlDr.
  by apply: (@le_trans _ _ 1); rewrite ?lerDl ?ler0n // -[1]/(1%:R) ler_nat leq_b1.
have := spread_ge (pair_tokens R) (lift ord0 ord0) ord0 0.
by rewrite !mxE /= subr0.
Qed.

(* One layer halves the spread. *)
Example doeblin_spread_met :
  spread (pair_attention half *m pair_tokens R) <= half.
Proof.
rewrite -[leRHS]mulr1 -pair_spread -{2}rest; apply: (@doeblin_spread _ _ _ ord0).
  exact: pair_stochastic.
by move=> i; apply: pair_pays.
Qed.

(* L layers leave 2^-L of it, and no less. *)
Example mask_exponential_attained_met L :
  spread (attention_product (fun=> pair_attention half) L *m pair_tokens R) = half ^+ L.
Proof.
by rewrite (mask_exponential_attained half0 half1) expr1 divn1 pair_spread mulr1 rest.
Qed.

(* What the second token keeps of itself. *)
Example tail_decay_met L i :
  tail (attention_product (fun=> pair_attention half) L) 1 i <= half ^+ L.
Proof.
have := @tail_decay R 2 (fun=> pair_attention half) half (@sees_first) 1 1 L i half0 isT.
rewrite expr1 divn1 mulr1n rest; apply=> [_|_|_ k m|k p p0 _].
- exact: pair_stochastic.
- exact: pair_pays.
- by rewrite mxE; case: k m => [[|[]] ?] // [[|[]] ?].
by have -> : p = ord0; [case: p p0 => [[|[]] ?] // _; apply: val_inj | apply: pair_reaches].
Qed.

End Half.

(* --- the bounds on binary numbers --- *)

(* (1 - eps^r)^(L / r) and (1 - j eps^r)^(L / r) for eps = a/b, as numerator and denominator. *)
Definition mask_exponential_value (L r a b : N) : N * N :=
  (N.pow (N.pow b r - N.pow a r) (L / r), N.pow (N.pow b r) (L / r))%num.
Definition position_bias_value (L r j a b : N) : N * N :=
  (N.pow (N.pow b r - j * N.pow a r) (L / r), N.pow (N.pow b r) (L / r))%num.

Lemma position_bias_valueE (R : realFieldType) (L r j a b : nat) :
  (0 < b)%N -> (j * a ^ r <= b ^ r)%N ->
  let v := position_bias_value (bin_of_nat L) (bin_of_nat r) (bin_of_nat j) (bin_of_nat a)
                               (bin_of_nat b) in
  (1 - (a%:R / b%:R) ^+ r *+ j) ^+ (L %/ r) = (nat_of_bin v.1)%:R / (nat_of_bin v.2)%:R :> R.
Proof.
move=> b0 le_b; lazy beta zeta iota delta [position_bias_value fst snd].
rewrite !(nat_of_pow_bin, nat_of_sub_bin, nat_of_mul_bin, nat_of_div_bin) !bin_of_natK.
have br0 : (b ^ r)%:R != 0 :> R by rewrite pnatr_eq0 -lt0n expn_gt0 b0.
rewrite [in RHS]natrX [X in _ = _ / X]natrX -expr_div_n; congr (_ ^+ _).
rewrite natrB // natrM mulrBl divff //; congr (1 - _).
by rewrite expr_div_n -mulr_natl -!natrX mulrA.
Qed.

Lemma mask_exponential_valueE (R : realFieldType) (L r a b : nat) :
  (0 < b)%N -> (a <= b)%N ->
  let v := mask_exponential_value (bin_of_nat L) (bin_of_nat r) (bin_of_nat a) (bin_of_nat b) in
  (1 - (a%:R / b%:R) ^+ r) ^+ (L %/ r) = (nat_of_bin v.1)%:R / (nat_of_bin v.2)%:R :> R.
Proof.
move=> b0 le_b; have le_r : (1 * a ^ r <= b ^ r)%N.
  by rewrite mul1n; case: (r) => // k; rewrite leq_exp2r.
have := @position_bias_valueE R L r 1 a b b0 le_r.
lazy beta zeta iota delta [mask_exponential_value position_bias_value fst snd].
by rewrite mulr1n; set one := bin_of_nat 1; have -> : one = 1%num by []; rewrite N.mul_1_l.
Qed.

(* --- the theorems with the numbers that claims compare --- *)

Local Notation quotient v := ((nat_of_bin v.1)%:R / (nat_of_bin v.2)%:R).

(* Claim: rank_collapse/mask_exponential. The spread after L layers, at most this times the spread
   before, where each token pays at least a/b to itself and to all that its mask shows it, and is
   reached from the centre within r steps. *)
Corollary mask_exponential_checked (R : realFieldType) n (A : nat -> 'M[R]_n) (a b : nat)
    (mask : rel 'I_n) centre r L d (X : 'M[R]_(n, d)) :
  (0 < b)%N -> (forall l, stochastic (A l)) -> (forall l, pays (a%:R / b%:R) mask (A l)) ->
  reflexive mask -> (forall i, exists2 s, (s <= r)%N & reaches mask centre s i) ->
  let v := mask_exponential_value (bin_of_nat L) (bin_of_nat r) (bin_of_nat a) (bin_of_nat b) in
  spread (attention_product A L *m X) <= quotient v * spread X.
Proof.
move=> b0 sA pay loops reach; lazy zeta; rewrite -mask_exponential_valueE //.
  by apply: mask_exponential_within reach => //; rewrite divr_ge0 ?ler0n.
have := le_trans (pay 0%N centre centre (loops centre)) (stochastic_le1 centre centre (sA 0%N)).
by rewrite ler_pdivrMr ?ltr0n // mul1r ler_nat.
Qed.

(* Claim: rank_collapse/position_bias. The weight of token i on the tokens from position p on, which
   counts from 1, after L causal layers that pay at least a/b to the last w tokens each. *)
Corollary position_bias_checked (R : realFieldType) n (A : nat -> 'M[R]_n) (a b w p L : nat) i :
  (0 < b)%N -> (0 < p <= n)%N -> (1 < w)%N -> (forall l, stochastic (A l)) ->
  (forall l (k m : 'I_n), (k < m)%N -> A l k m = 0) ->
  (forall l, pays (a%:R / b%:R) (window w) (A l)) ->
  let v := position_bias_value (bin_of_nat L)
    ((bin_of_nat n + bin_of_nat w - 3) / (bin_of_nat w - 1)) (bin_of_nat p - 1)
    (bin_of_nat a) (bin_of_nat b) in
  tail (attention_product A L) p.-1 i <= quotient v.
Proof.
move=> b0 /andP[p0 pn] w1 sA causal pay; set eps := a%:R / b%:R in pay.
have eps0 : 0 <= eps by rewrite divr_ge0 ?ler0n.
have jn : (p.-1 < n)%N by rewrite prednK.
have bound l := position_bias l i eps0 jn w1 sA causal pay.
have -> : (bin_of_nat p - 1)%num = bin_of_nat p.-1.
  by apply: (can_inj nat_of_binK); rewrite nat_of_sub_bin !bin_of_natK subn1.
have -> : ((bin_of_nat n + bin_of_nat w - 3) / (bin_of_nat w - 1))%num
    = bin_of_nat (window_steps n w).
  apply: (can_inj nat_of_binK).
  rewrite nat_of_div_bin !nat_of_sub_bin nat_of_add_bin !bin_of_natK /window_steps subn1.
  by congr (_ %/ _)%N; rewrite (_ : nat_of_bin 3 = 3%N) //; lia.
lazy zeta; rewrite -position_bias_valueE //.
move: (bound (window_steps n w)) => {bound}; set r := window_steps n w.
have := window_steps_enough n w1; rewrite -/r; have [-> n1|r0 _] := posnP r; first by lia.
rewrite /= divnn r0 expr1 => le1; have := le_trans (tail_ge0 _ _ (product_stochastic _ sA)) le1.
rewrite subr_ge0 -mulr_natl expr_div_n -!natrX mulrA -natrM ler_pdivrMr ?mul1r ?ler_nat //.
by rewrite ltr0n expn_gt0 b0.
Qed.

(* The numbers of both at six layers, three tokens and a window of two: 27/64. *)
Example mask_exponential_checked_met (R : realFieldType) d (X : 'M[R]_(3, d)) :
  spread (attention_product (fun=> stepping R) 6 *m X) <= 27%:R / 64%:R * spread X.
Proof.
have pay (_ : nat) : pays (1%:R / 2%:R) (window 2) (stepping R).
  by rewrite mul1r; apply: stepping_pays.
exact: (mask_exponential_checked 6 X (isT : (0 < 2)%N) (fun=> stepping_stochastic R) pay
  (window_reflexive (isT : (0 < 2)%N)) stepping_centre).
Qed.

Example position_bias_checked_met (R : realFieldType) i :
  tail (attention_product (fun=> stepping R) 6) 1 i <= 27%:R / 64%:R.
Proof.
have pay (_ : nat) : pays (1%:R / 2%:R) (window 2) (stepping R).
  by rewrite mul1r; apply: stepping_pays.
exact: (@position_bias_checked R 3 _ 1 2 2 2 6 i isT isT isT (fun=> stepping_stochastic R)
  (fun=> @stepping_causal R) pay).
Qed.

(* c^((3^L - 1)/2) r^(3^L) for c = a/b and r = p/q. *)
Definition collapse_value (a b p q L : N) : N * N :=
  let e := cubic_exponent_value L in let t := residual_exponent_value L in
  (N.pow a e * N.pow p t, N.pow b e * N.pow q t)%num.

Lemma collapse_valueE (R : realFieldType) (a b p q L : nat) :
  let v := collapse_value (bin_of_nat a) (bin_of_nat b) (bin_of_nat p) (bin_of_nat q)
             (bin_of_nat L) in
  (a%:R / b%:R) ^+ cubic_exponent L * (p%:R / q%:R) ^+ (3 ^ L) = quotient v :> R.
Proof.
rewrite /collapse_value cubic_exponent_valueE residual_exponent_valueE.
lazy beta zeta iota delta [fst snd]; rewrite !nat_of_mul_bin !nat_of_pow_bin !bin_of_natK.
by rewrite !natrM !natrX !expr_div_n mulrACA -invfM.
Qed.

(* Claim: rank_collapse/collapse_condition. The recurrence r_(l+1) = c r_l^3 with c, r_0 > 0 has
   this closed form, and tends to 0 exactly when sqrt(c) r_0 < 1, said without a root; and the
   closed form for c = a/b and r_0 = p/q on binary numbers. *)
Corollary collapse_condition_checked (R : archiFieldType) (r : nat -> R) c :
  0 < c -> 0 < r 0%N -> (forall l, r l.+1 = c * r l ^+ 3) ->
  [/\ forall L, r L = c ^+ cubic_exponent L * r 0%N ^+ (3 ^ L),
      tends_to_0 r <-> c * r 0%N ^+ 2 < 1 &
      forall a b p q L : nat, c = a%:R / b%:R -> r 0%N = p%:R / q%:R ->
        r L = quotient (collapse_value (bin_of_nat a) (bin_of_nat b) (bin_of_nat p)
                          (bin_of_nat q) (bin_of_nat L))].
Proof.
move=> c0 r0 step; split=> [L||a b p q L cE rE]; last rewrite -collapse_valueE -cE -rE.
- exact: collapse_condition.
- exact: collapse_limit.
exact: collapse_condition.
Qed.

(* Coefficient 3 from 1/2, where 3/4 < 1: 3/8 after a layer, and 0 in the limit. *)
Example collapse_condition_met (r := cubic_from (3%:R : rat) 2%:R^-1) :
  r 1%N = 3%:R / 8%:R /\ tends_to_0 r.
Proof.
have c0 : 0 < 3%:R :> rat by [].
have [_ limit value] := collapse_condition_checked c0 (isT : 0 < r 0%N) (fun=> erefl).
split; last exact/limit.
by rewrite (value 3 1 1 2)%N // -collapse_valueE.
Qed.
