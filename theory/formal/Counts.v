(* The dimension count S(d, L) of theory/separation_rank/dimension_count.py: a sum of minima of two
   binomial coefficients; its closed form, bounds, growth and knee, and its values on binary
   numbers. That S bounds the separation rank (claim separation_rank/dimension_count) is shown in
   SeparationRank.v. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.
From Depthlaw Require Import Degree.
From Depthlaw Require Reach.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* --- the objects ------------------------------------------------------------------------------ *)

(* D = d (d + 1) / 2 second moments; C(L) = (3^L - 1) / 2 is moment_degree L. *)
Definition moment_count (d : nat) : nat := (d * d.+1)./2.

(* Monomials of degree k in D variables. *)
Definition monomials (D k : nat) : nat := 'C(D + k - 1, k).

(* The sum for any d, D and C, and the dimension count. *)
Definition sum_of_minima (d D C : nat) : nat :=
  \sum_(k < C.+1) minn (d * monomials D k) (monomials D (C - k)).

Definition dimension_count (d L : nat) : nat :=
  sum_of_minima d (moment_count d) (moment_degree L).

(* As claim separation_rank/dimension_count writes it. *)
Lemma sum_of_minimaE d D C : sum_of_minima d D C =
  \sum_(0 <= k < C.+1) minn (d * 'C(D + k - 1, k)) 'C(D + C - k - 1, C - k).
Proof.
rewrite big_mkord; apply: eq_bigr => -[k kC] _ /=; congr (minn _ 'C(_, _)).
by rewrite addnBA // -ltnS.
Qed.

(* --- monomials -------------------------------------------------------------------------------- *)

Lemma moment_count_double d : (moment_count d).*2 = d * d.+1.
Proof. by rewrite /moment_count; have := odd_double_half (d * d.+1); rewrite oddM /= andbN. Qed.

Lemma leq_moment_count d : d <= moment_count d.
Proof. by rewrite -leq_double moment_count_double; case: d => // d; lia. Qed.

Lemma moment_count_gt0 d : 0 < d -> 0 < moment_count d.
Proof. by move=> d0; apply: leq_trans (leq_moment_count d). Qed.

Lemma moment_countS d : moment_count d.+1 = moment_count d + d.+1.
Proof.
by apply: double_inj; rewrite doubleD !moment_count_double; lia.
Qed.

Lemma leq_moment_count2 d e : d <= e -> moment_count d <= moment_count e.
Proof. by move=> de; rewrite -leq_double !moment_count_double; nia. Qed.

Lemma monomials0 D : monomials D 0 = 1.
Proof. by rewrite /monomials bin0. Qed.

Lemma monomials_gt0 D k : 0 < D -> 0 < monomials D k.
Proof. by move=> D0; rewrite /monomials bin_gt0; lia. Qed.

Lemma monomialsS D k : 0 < D -> monomials D.+1 k.+1 = monomials D k.+1 + monomials D.+1 k.
Proof.
move=> D0; rewrite /monomials (_ : D.+1 + k.+1 - 1 = (D + k).+1); last by lia.
by rewrite binS; congr ('C(_, _) + 'C(_, _)); lia.
Qed.

Lemma leq_monomialsS D k : 0 < D -> monomials D k <= monomials D k.+1.
Proof.
by case: D => // -[_|D _]; [rewrite /monomials !add1n !subn1 !binn|rewrite monomialsS ?leq_addl].
Qed.

Lemma leq_monomials D k l : 0 < D -> k <= l -> monomials D k <= monomials D l.
Proof.
move=> D0; elim: l => [|l IH]; first by rewrite leqn0 => /eqP->.
rewrite leq_eqVlt => /orP[/eqP-> //|kl]; exact: leq_trans (IH kl) (leq_monomialsS _ D0).
Qed.

Lemma leq_monomials2 D E k : D <= E -> monomials D k <= monomials E k.
Proof. by move=> DE; apply: leq_bin2l; lia. Qed.

(* --- hockey sticks ---------------------------------------------------------------------------- *)

(* The hockey stick: forms of degree at most h in D variables. Used by the claims
   separation_rank/count_bounds and separation_rank/two_tokens_upper. *)
Theorem hockey_stick D h : 0 < D -> \sum_(k < h.+1) monomials D k = 'C(D + h, h).
Proof.
move=> D0; elim: h => [|h IH]; first by rewrite big_ord_recr big_ord0 monomials0 bin0.
rewrite big_ord_recr IH /= /monomials addnS subn1 /= binS addnC; congr (_ + _).
Qed.

(* Claim: separation_rank/two_tokens_upper: the smaller degrees 0, ..., C, each once. *)
Theorem two_tokens_count d C : 0 < d -> \sum_(m < C.+1) 'C(m + d - 1, d - 1) = 'C(d + C, C).
Proof.
move=> d0; rewrite -hockey_stick //; apply: eq_bigr => m _; rewrite /monomials [d + m]addnC.
by rewrite -[LHS]bin_sub; [congr 'C(_, _); lia|lia].
Qed.

(* --- the closed form -------------------------------------------------------------------------- *)

Section ClosedForm.
Variables (d D C : nat).
Hypothesis D0 : 0 < D.

Lemma tail_stick m : m <= C ->
  \sum_(k < C.+1 | m < k) monomials D (C - k) = 'C(D + C - m - 1, D).
Proof.
move=> mC; case: (ltnP m C) => [mltC|Cm]; last first.
  rewrite big_pred0 => [|k]; last first.
    by apply/negbTE; rewrite -leqNgt; apply: leq_trans Cm; rewrite -ltnS.
  by rewrite bin_small //; lia.
rewrite -(big_mkord (fun k => m < k) (fun k => monomials D (C - k))).
rewrite (big_cat_nat _ _ _ (leq0n m.+1)) /=; last by rewrite ltnS ltnW.
rewrite big_nat_cond big_pred0 => [|k]; last by rewrite ltnS /=; case: leqP.
rewrite add0n big_nat_cond (eq_bigl (fun k => m.+1 <= k < C.+1)) => [|k]; last first.
  by case: (ltnP m k); rewrite ?andbT ?andbF.
rewrite -big_nat big_nat_rev /=.
rewrite (_ : 'C(D + C - m - 1, D) = 'C(D + (C - m.+1), C - m.+1)); last first.
  have -> : D + C - m - 1 = D + (C - m.+1) by move: mltC D0; clear; lia.
  by rewrite -[RHS]bin_sub ?leq_addl // addnK.
rewrite -hockey_stick // -(big_mkord xpredT (monomials D)).
rewrite -[X in \sum_(X <= _ < _) _]add0n big_addn subSS.
have -> : C - m = (C - m.+1).+1 by move: mltC; clear; lia.
by apply: eq_big_nat => k kC; congr monomials; move: kC mltC; clear; lia.
Qed.

Lemma head_stick m : m <= C -> \sum_(k < C.+1 | k <= m) monomials D k = 'C(D + m, m).
Proof.
move=> mC; rewrite -hockey_stick // -(big_mkord (fun k => k <= m) (monomials D)).
rewrite -(big_mkord xpredT (monomials D)).
rewrite (big_cat_nat _ _ _ (leq0n m.+1)) /= ?ltnS //.
rewrite [X in _ + X]big_nat_cond [X in _ + X]big_pred0 => [|k]; last by case: (leqP k m); lia.
rewrite addn0 big_nat_cond [RHS]big_nat_cond; apply: eq_bigl => k.
by rewrite ltnS /= andbT andbb.
Qed.

(* Any split bounds the sum. *)
Theorem split_bound m : m <= C ->
  sum_of_minima d D C <= d * 'C(D + m, m) + 'C(D + C - m - 1, D).
Proof.
move=> mC; rewrite -head_stick // -tail_stick // big_distrr /=.
rewrite /sum_of_minima (bigID (fun k : 'I_C.+1 => k <= m)) /=; apply: leq_add.
  by apply: leq_sum => k _; exact: geq_minl.
rewrite (eq_bigl (fun k : 'I_C.+1 => m < k)) => [|k]; last by rewrite ltnNge.
by apply: leq_sum => k _; exact: geq_minr.
Qed.

(* The split at the last k at which the first term is not the larger one is the sum. *)
Theorem closed_form m : m <= C -> d * monomials D m <= monomials D (C - m) ->
  (m < C -> monomials D (C - m.+1) <= d * monomials D m.+1) ->
  sum_of_minima d D C = d * 'C(D + m, m) + 'C(D + C - m - 1, D).
Proof.
move=> mC first second; rewrite -head_stick // -tail_stick // big_distrr /=.
rewrite /sum_of_minima (bigID (fun k : 'I_C.+1 => k <= m)) /=; congr (_ + _).
  apply: eq_bigr => k km; apply/minn_idPl.
  apply: leq_trans (leq_trans first _); first by rewrite leq_mul2l leq_monomials ?orbT.
  by apply: leq_monomials => //; lia.
rewrite (eq_bigl (fun k : 'I_C.+1 => m < k)) => [|k]; last by rewrite ltnNge.
apply: eq_bigr => k mk; have kC := ltn_ord k; apply/minn_idPr.
apply: leq_trans (leq_trans (second _) _); first (by apply: leq_monomials => //; lia); first lia.
by rewrite leq_mul2l leq_monomials ?orbT.
Qed.

End ClosedForm.

(* --- bounds ----------------------------------------------------------------------------------- *)

Lemma sum_of_minima0 d D : 0 < d -> sum_of_minima d D 0 = 1.
Proof.
by move=> d0; rewrite /sum_of_minima big_ord_recr big_ord0 /= !monomials0 muln1; apply/minn_idPr.
Qed.

Section Bounds.
Variables (d D C : nat).
Hypotheses (d0 : 0 < d) (D0 : 0 < D).
Let h := C./2.

Lemma half_cases : C = h.*2 \/ C = h.*2.+1.
Proof. by have := odd_double_half C; case: (odd C) => /= e; [right|left]. Qed.

Lemma lower_bound : 'C(D + h, h) <= sum_of_minima d D C.
Proof.
have hC : h <= C by have := half_cases; move: h => g; lia.
rewrite -(head_stick D0 hC) /sum_of_minima [X in _ <= X](bigID (fun k : 'I_C.+1 => k <= h)) /=.
apply: leq_trans (leq_addr _ _); apply: leq_sum => k kh; rewrite leq_min leq_pmull //=.
by apply: leq_monomials => //; have := half_cases; move: kh; move: h (nat_of_ord k) => g l; lia.
Qed.

Lemma upper_bound : sum_of_minima d D C <= d.+1 * 'C(D + h, h).
Proof.
rewrite mulSn addnC; case: half_cases => CE; last first.
  have hC : h <= C by move: CE; move: h => g; lia.
  apply: leq_trans (split_bound d D0 hC) _; rewrite leq_add2l.
  have -> : D + C - h - 1 = D + h by move: CE D0; move: h => g; lia.
  by rewrite -bin_sub ?leq_addr // addKn.
case E : h => [|g].
  by rewrite CE E sum_of_minima0 // !bin0; lia.
have gC : g <= C by move: CE E; move: h => l; lia.
apply: leq_trans (split_bound d D0 gC) _; apply: leq_add.
  rewrite leq_mul2l; apply/orP; right; rewrite -!hockey_stick //.
  by rewrite [X in _ <= X]big_ord_recr leq_addr.
have -> : D + C - g - 1 = D + g.+1 by move: CE E D0; move: h => l; lia.
by rewrite -[X in X <= _]bin_sub ?leq_addr // addKn.
Qed.

End Bounds.

(* Claim: separation_rank/count_bounds, the bounds without logarithms.
   With h = floor(C/2), binom(D+h, D) <= S(d, L) <= (d + 1) binom(D+h, D), for all d and L. *)
Theorem count_bounds d L (D := moment_count d) (h := (moment_degree L)./2) : 0 < d ->
  'C(D + h, D) <= dimension_count d L <= d.+1 * 'C(D + h, D).
Proof.
move=> d0; have D0 := moment_count_gt0 d0; rewrite -[D in 'C(_, D)](addnK h) bin_sub ?leq_addl //.
by rewrite lower_bound // upper_bound.
Qed.

Lemma stick_power D h : 'C(D + h, D) <= h.+1 ^ D.
Proof.
elim: D => [|D IH]; first by rewrite bin0.
rewrite -(leq_pmul2l (ltn0Sn D)) -mul_bin_diag /= addSn /= expnS mulnA.
by apply: leq_mul IH; lia.
Qed.

Lemma leq_pow a b e : a <= b -> a ^ e <= b ^ e.
Proof. by case: e => // e ab; rewrite leq_exp2r. Qed.

(* S <= (d + 1)^C, the upper bound of Theorem 1 with one head, at every depth. *)
Theorem count_upper_theorem_1 d L : 0 < d -> dimension_count d L <= d.+1 ^ moment_degree L.
Proof.
move=> d0; have D0 := moment_count_gt0 d0; rewrite /dimension_count.
have D2 : (moment_count d).+1 <= d.+1 ^ 2.
  by have := moment_count_double d; rewrite expnS expn1; nia.
have stick h : 'C(moment_count d + h, h) <= (d.+1 ^ 2) ^ h.
  by rewrite addnC; apply: leq_trans (stick_power h _) _; exact: leq_pow.
case: (half_cases (moment_degree L)); set C := moment_degree L; set h := C./2 => CE; last first.
  apply: leq_trans (upper_bound C d0 D0) _; rewrite -/h [X in _ ^ X]CE -mul2n expnS expnM.
  exact: leq_mul (stick h).
case E : h => [|g]; first by rewrite CE E sum_of_minima0.
have gC : g <= C by rewrite CE E; lia.
apply: leq_trans (split_bound d D0 gC) _; rewrite CE E.
have -> : moment_count d + g.+1.*2 - g - 1 = (moment_count d + g).+1 by lia.
have -> : 'C((moment_count d + g).+1, moment_count d) = 'C((moment_count d + g).+1, g.+1).
  by rewrite -bin_sub; [congr 'C(_, _)|]; lia.
have le : 'C((moment_count d + g).+1, g.+1) <= (moment_count d).+1 * 'C(moment_count d + g, g).
  rewrite -(leq_pmul2l (ltn0Sn g)) -mul_bin_diag mulnA leq_mul2r; apply/orP; right; nia.
apply: leq_trans (leq_add (leqnn _) le) _; rewrite -mulnDl doubleS -mul2n !expnS mulnA expnM.
apply: leq_mul (stick g); have := moment_count_double d; nia.
Qed.

Lemma stick_linear d L (D := moment_count d) (h := (moment_degree L.+1)./2) :
  d.+1 * 'C(D + h, D) <= 3 ^ (D * L.+1).
Proof.
have le2 : d.+1 <= 2 ^ D.
  by apply: leq_trans (ltn_expl _ (ltnSn 1)) _; rewrite leq_exp2l // leq_moment_count.
apply: leq_trans (leq_mul le2 (stick_power D h)) _; rewrite -expnMn [X in _ <= _ ^ X]mulnC expnM.
apply: leq_pow.
have := double_moment_degree L.+1; rewrite expnS; have := odd_double_half (moment_degree L.+1).
rewrite -/h; have : 0 < 3 ^ L by rewrite expn_gt0.
by case: (odd _) => /=; move: (3 ^ L) (moment_degree _) h => *; lia.
Qed.

(* S <= 3^(D L): at most linear in depth on the scale of logarithms. *)
Theorem count_upper_linear d L : 0 < d -> dimension_count d L <= 3 ^ (moment_count d * L).
Proof.
move=> d0; case: L => [|L]; first by rewrite muln0 expn0 /dimension_count sum_of_minima0.
by have /andP[_ le] := count_bounds L.+1 d0; apply: leq_trans le (stick_linear d L).
Qed.

(* Doubly exponential in the depth up to the knee: S >= 2^h while h <= D. *)
Theorem count_lower_exponential d L (h := (moment_degree L)./2) : 0 < d -> h <= moment_count d ->
  2 ^ h <= dimension_count d L.
Proof.
move=> d0 hD; have D0 := moment_count_gt0 d0.
apply: leq_trans (lower_bound (moment_degree L) d0 D0); rewrite -/h.
elim: h hD => [|g IH gD]; first by rewrite bin0.
have {}IH := IH (ltnW gD).
rewrite -(leq_pmul2l (ltn0Sn g)) addnS -mul_bin_diag expnS /= mulnA.
by apply: leq_mul IH; lia.
Qed.

(* --- special cases ---------------------------------------------------------------------------- *)

(* Width 1: one plus the degree in the moments. *)
Theorem count_width_1 L : dimension_count 1 L = (moment_degree L).+1.
Proof.
rewrite /dimension_count /sum_of_minima (eq_bigr (fun=> 1)) ?sum1_card ?card_ord // => k _.
by rewrite /monomials /moment_count mul1n /= !add1n !subn1 /= !binn.
Qed.

(* At depth 0 the count is 1; here and at depth 1 the bound (d + 1)^C is attained. *)
Theorem count_depth_0 d : 0 < d -> dimension_count d 0 = 1.
Proof. exact: sum_of_minima0. Qed.

(* At depth 1 the count is d + 1. *)
Theorem count_depth_1 d : 0 < d -> dimension_count d 1 = d.+1.
Proof.
move=> d0; have D0 := moment_count_gt0 d0; have dD := leq_moment_count d.
rewrite /dimension_count /sum_of_minima !big_ord_recl big_ord0 /= !monomials0 /monomials.
rewrite !bin1 !addn0 muln1 addnK; move: (moment_count d) D0 dD => D D0 dD.
rewrite (minn_idPl dD) (_ : minn _ 1 = 1) ?addn1 //; apply/minn_idPr.
by rewrite muln_gt0 d0.
Qed.

(* At depth 2 it is (d + 1)(D + 1) + binom(D + 1, 2). *)
Theorem count_depth_2 d (D := moment_count d) : 0 < d ->
  dimension_count d 2 = d.+1 * D.+1 + 'C(D.+1, 2).
Proof.
move=> d0; have D0 := moment_count_gt0 d0.
rewrite /dimension_count (@closed_form _ _ _ D0 1) //.
- rewrite -/D bin1 addn1 (_ : D + 4 - 1 - 1 = D.+2); last by lia.
  have -> : 'C(D.+2, D) = 'C(D.+2, 2) by rewrite -[LHS]bin_sub ?leqW // -addn2 addKn.
  by rewrite binS bin1 mulSn addnCA [LHS]addnC [d * _ + _]addnC.
- rewrite /monomials bin1 addnK subn1 addn3 /= -/D.
  have D6 : 6 * 'C(D.+2, 3) = D.+2 * D.+1 * D.
    by rewrite mulnC (_ : 6 = 3`!) // bin_ffact !ffactnS ffactn0 muln1 mulnA.
  have D2 : 2 * d <= D.+1.
    by rewrite -leq_double doubleS moment_count_double; case: (d) d0 => [//|[//|e]] _; nia.
  rewrite -(leq_pmul2l (isT : 0 < 6)) D6.
  rewrite mulnA leq_mul2r; apply/orP; right.
  by apply: leq_trans (leq_mul (_ : 3 <= D.+2) D2); [rewrite mulnA|rewrite !ltnS].
by move=> _; rewrite leq_pmull.
Qed.

(* The constant d + 1 of count_bounds cannot be d. *)
Lemma count_bounds_not_d d (D := moment_count d) : 0 < d ->
  d * 'C(D + (moment_degree 1)./2, D) < dimension_count d 1.
Proof. by move=> d0; rewrite count_depth_1 // (_ : _./2 = 0) // addn0 binn muln1. Qed.

(* --- growth ----------------------------------------------------------------------------------- *)

Lemma ltn_sum_degree d D C : 0 < d -> 0 < D -> sum_of_minima d D C < sum_of_minima d D C.+1.
Proof.
move=> d0 D0; rewrite /sum_of_minima [X in _ < X]big_ord_recr /= -addn1; apply: leq_add.
  apply: leq_sum => k _; rewrite leq_min geq_minl /=; apply: leq_trans (geq_minr _ _) _.
  by apply: leq_monomials => //; rewrite leq_sub2r.
by rewrite subnn monomials0 leq_min muln_gt0 d0 monomials_gt0.
Qed.

(* More layers: strictly more. *)
Theorem count_depth_monotone d L M : 0 < d -> L < M -> dimension_count d L < dimension_count d M.
Proof.
move=> d0 LM; have D0 := moment_count_gt0 d0; rewrite /dimension_count.
apply: (homo_ltn ltn_trans (fun C => ltn_sum_degree C d0 D0)).
have := double_moment_degree L; have := double_moment_degree M.
have : 3 ^ L < 3 ^ M by rewrite ltn_exp2l.
by move: (3 ^ L) (3 ^ M) (moment_degree L) (moment_degree M) => *; lia.
Qed.

(* More width: strictly more, from one layer on. *)
Theorem count_width_monotone d e L : 0 < d -> 0 < L -> d < e ->
  dimension_count d L < dimension_count e L.
Proof.
move=> d0 L0 de; have D0 := moment_count_gt0 d0.
have DE : moment_count d < moment_count e.
  by rewrite -ltn_double !moment_count_double; nia.
rewrite /dimension_count /sum_of_minima !big_ord_recl -addSn /=; apply: leq_add.
  rewrite !monomials0 !muln1 !subn0 leq_min (leq_trans _ de) ?ltnS ?geq_minl //=.
  apply: leq_ltn_trans (geq_minr _ _) _.
  have : 0 < moment_degree L.
    have := double_moment_degree L; case: L L0 => // L _; rewrite expnS.
    by have : 0 < 3 ^ L; [rewrite expn_gt0|move: (3 ^ L) (moment_degree _) => *; lia].
  case: (moment_degree L) => // C _.
  apply: leq_trans (_ : _ < monomials (moment_count d).+1 C.+1) _.
    by rewrite monomialsS // -[X in X < _]addn0 ltn_add2l monomials_gt0.
  exact: leq_monomials2.
apply: leq_sum => k _; rewrite leq_min !geq_min; apply/andP; split.
  by rewrite leq_mul ?leq_monomials2 // ltnW.
by rewrite [X in _ || X]leq_monomials2 ?orbT // ltnW.
Qed.

(* --- the knee --------------------------------------------------------------------------------- *)

(* The first depth at which C(L)/2 is at least D. *)
Definition knee (d : nat) : nat := up_log 3 (2 * d ^ 2 + 2 * d + 1).

(* Claim: separation_rank/knee. C(L)/2 >= D exactly when 3^L >= 2 d^2 + 2 d + 1, exactly when L is
   at least the logarithm to base 3, rounded up; for all d and L. *)
Theorem knee_power d L :
  (moment_count d).*2 <= moment_degree L = (2 * d ^ 2 + 2 * d + 1 <= 3 ^ L).
Proof.
rewrite moment_count_double -double_moment_degree expnS expn1.
by move: (moment_degree L) => C; apply/idP/idP; nia.
Qed.

(* So C(L)/2 is at least D exactly from the knee on. *)
Theorem knee_least d L : ((moment_count d).*2 <= moment_degree L) = (knee d <= L).
Proof.
rewrite knee_power /knee; apply/idP/idP => [le|le]; first exact: up_log_min.
by apply: leq_trans (up_logP _ (ltnSn 1 : 1 < 3)) _ => //; rewrite leq_exp2l.
Qed.

(* About twice log_3 d: at most two layers more than log_3 (d^2), rounded up. *)
Theorem knee_near d : 0 < d -> up_log 3 (d ^ 2) <= knee d <= (up_log 3 (d ^ 2)).+2.
Proof.
move=> d0; rewrite /knee leq_up_log /=; last by nia.
apply: up_log_min => //; apply: leq_trans (_ : 9 * d ^ 2 <= _); first by rewrite expnS expn1; nia.
by rewrite -[X in _ <= 3 ^ X]addn2 expnD mulnC leq_mul // up_logP.
Qed.

(* --- values ----------------------------------------------------------------------------------- *)

(* Factor by factor: 'C(n, i + 1) = 'C(n, i) (n - i) / (i + 1), each division without remainder. *)
Definition bin_step (n : N) (s : N * N) : N * N :=
  (N.succ s.1, N.div (N.mul s.2 (N.sub n s.1)) (N.succ s.1)).
Definition bin_value (n k : N) : N := (N.iter k (bin_step n) (0%num, 1%num)).2.

(* 'C(a + b, a), by the fewer factors. *)
Definition stick_value (a b : N) : N := bin_value (N.add a b) (N.min a b).
Definition monomials_value (D k : N) : N := stick_value (N.pred D) k.

Section Values.
Variables (d D C : N).

Definition sum_step (s : N * N) : N * N :=
  (N.succ s.1, N.add s.2
    (N.min (N.mul d (monomials_value D s.1)) (monomials_value D (N.sub C s.1)))).
Definition sum_value : N := (N.iter (N.succ C) sum_step (0%num, 0%num)).2.

Definition first_smaller (k : N) : bool :=
  N.leb (N.mul d (monomials_value D k)) (monomials_value D (N.sub C k)).
Definition bisect (s : N * N) : N * N :=
  let m := N.div (N.add s.1 s.2) 2 in
  if N.leb (N.sub s.2 s.1) 1 then s else if first_smaller m then (m, s.2) else (s.1, m).
Definition crossing : N := (N.iter (N.size C) bisect (0%num, N.succ C)).1.
Definition is_crossing (m : N) : bool :=
  [&& N.leb m C, first_smaller m & N.ltb m C ==>
    N.leb (monomials_value D (N.sub C (N.succ m))) (N.mul d (monomials_value D (N.succ m)))].

(* Two hockey sticks at the crossing, which is checked; the sum itself where the check fails. *)
Definition closed_value : N :=
  let m := crossing in
  if is_crossing m then
    N.add (N.mul d (stick_value m D))
      (if N.ltb m C then stick_value (N.sub C (N.succ m)) D else 0%num)
  else sum_value.
End Values.

Definition S_value (d L : N) : N :=
  closed_value d (N.div (N.mul d (N.succ d)) 2) (moment_degree_value L).

(* The knee by counting up, and as a comparison. *)
Definition is_knee_value (d L : N) : bool :=
  N.leb (2 * d ^ 2 + 2 * d + 1)%num (3 ^ L)%num &&
  ((L == 0%num) || N.ltb (3 ^ (N.pred L))%num (2 * d ^ 2 + 2 * d + 1)%num).

Local Notation "# n" := (N.of_nat n) (at level 8, format "# n").

Lemma bin_valueE n k : bin_value #n #k = #'C(n, k).
Proof.
rewrite /bin_value; suff -> : N.iter #k (bin_step #n) (0%num, 1%num) = (#k, #'C(n, k)) by [].
rewrite Nnat.N2Nat.inj_iter Nnat.Nat2N.id; elim: k => [|k IH]; first by rewrite bin0.
rewrite /= IH /bin_step /= -Nnat.Nat2N.inj_succ; congr (_, _).
rewrite -Nnat.Nat2N.inj_sub -Nnat.Nat2N.inj_mul.
have -> : Nat.mul 'C(n, k) (Nat.sub n k) = 'C(n, k.+1) * k.+1.
  by rewrite [RHS]mulnC mul_bin_left mulnC.
by rewrite Nnat.Nat2N.inj_mul N.div_mul //; lia.
Qed.

Lemma stick_valueE a b : stick_value #a #b = #'C(a + b, a).
Proof.
rewrite /stick_value -Nnat.Nat2N.inj_add -Nnat.Nat2N.inj_min bin_valueE; congr N.of_nat.
case: (leqP a b) => ab; first by rewrite (_ : Nat.min a b = a) //; lia.
by rewrite (_ : Nat.min a b = b); [rewrite -[LHS]bin_sub ?leq_addl // addnK|lia].
Qed.

Lemma monomials_valueE D k : 0 < D -> monomials_value #D #k = #(monomials D k).
Proof.
case: D => // D _; rewrite /monomials_value.
rewrite -Nnat.Nat2N.inj_pred stick_valueE /monomials addSn subn1 /=.
by rewrite -[LHS]/(#'C(D + k, D)) -bin_sub ?leq_addr // addKn.
Qed.

Lemma leb_of_nat a b : N.leb #a #b = (a <= b).
Proof. by apply/idP/idP => [/N.leb_le|ab]; [lia|apply/N.leb_le; lia]. Qed.

Lemma ltb_of_nat a b : N.ltb #a #b = (a < b).
Proof. by apply/idP/idP => [/N.ltb_lt|ab]; [lia|apply/N.ltb_lt; lia]. Qed.

Section ValuesE.
Variables (d D C : nat).
Hypothesis D0 : 0 < D.

Lemma sum_valueE : sum_value #d #D #C = #(sum_of_minima d D C).
Proof.
rewrite /sum_value -Nnat.Nat2N.inj_succ Nnat.N2Nat.inj_iter Nnat.Nat2N.id /sum_of_minima.
rewrite -(big_mkord xpredT (fun k => minn (d * monomials D k) (monomials D (C - k)))).
move: C.+1 => K.
suff -> : Nat.iter K (sum_step #d #D #C) (0%num, 0%num) =
  (#K, #(\sum_(0 <= k < K) minn (d * monomials D k) (monomials D (C - k)))) by [].
elim: K => [|K IH]; first by rewrite big_geq.
rewrite /= IH /sum_step /= -Nnat.Nat2N.inj_succ big_nat_recr //= Nnat.Nat2N.inj_add.
rewrite -Nnat.Nat2N.inj_sub !monomials_valueE // -Nnat.Nat2N.inj_mul -Nnat.Nat2N.inj_min.
by congr (_, N.add _ #_); rewrite -[Nat.sub C K]/(C - K) -[Nat.mul _ _]/(d * _); lia.
Qed.

Lemma closed_valueE : closed_value #d #D #C = #(sum_of_minima d D C).
Proof.
rewrite /closed_value; case E : is_crossing; last exact: sum_valueE.
move: E; rewrite -(Nnat.N2Nat.id (crossing _ _ _)); move: (N.to_nat _) => m.
rewrite /is_crossing /first_smaller.
rewrite -Nnat.Nat2N.inj_succ -!Nnat.Nat2N.inj_sub leb_of_nat !ltb_of_nat.
rewrite !monomials_valueE // -!Nnat.Nat2N.inj_mul !leb_of_nat => /and3P[mC first /implyP second].
rewrite !stick_valueE (@closed_form d D C D0 m) // Nnat.Nat2N.inj_add Nnat.Nat2N.inj_mul.
congr N.add; first by rewrite [D + m]addnC.
case: ltnP => mltC; last by rewrite bin_small //; lia.
congr N.of_nat.
rewrite -[Nat.sub C m.+1]/(C - m.+1) -[LHS]bin_sub ?leq_addr // addKn.
by congr 'C(_, _); lia.
Qed.

End ValuesE.

(* S_value is the dimension count, for all d >= 1 and L. *)
Theorem S_valueE d L : 0 < d ->
  S_value (bin_of_nat d) (bin_of_nat L) = bin_of_nat (dimension_count d L).
Proof.
move=> d0; rewrite /S_value moment_degree_valueE !bin_of_natE.
rewrite -Nnat.Nat2N.inj_succ -Nnat.Nat2N.inj_mul -[Nat.mul _ _]/(d * d.+1) -moment_count_double.
have -> : #(moment_count d).*2 = N.mul #(moment_count d) 2 by lia.
by rewrite N.div_mul // closed_valueE // moment_count_gt0.
Qed.

Lemma is_knee_valueE d L : is_knee_value (bin_of_nat d) (bin_of_nat L) = (knee d == L).
Proof.
have e3 k : (3 ^ #k)%num = #(3 ^ k).
  by have := degree_valueE k; rewrite /degree_value !bin_of_natE.
rewrite !bin_of_natE /is_knee_value.
have -> : (2 * #d ^ 2 + 2 * #d + 1)%num = #(2 * d ^ 2 + 2 * d + 1).
  by rewrite N.pow_2_r expnS expn1; lia.
case: L => [|L].
  by rewrite /= andbT -[1%num]/(#(3 ^ 0)) leb_of_nat -knee_power knee_least leqn0.
rewrite -Nnat.Nat2N.inj_pred !e3 leb_of_nat ltb_of_nat -knee_power knee_least /= ltnNge -knee_power.
by rewrite knee_least -ltnNge eqn_leq.
Qed.

Example S_values : [seq S_value 2 L | L <- [:: 1; 2; 3]%num] = [:: 3; 18; 232]%num.
Proof. by vm_compute. Qed.

Example knee_12288 : knee 12288 = 18.
Proof. by apply/eqP; rewrite -is_knee_valueE -[bin_of_nat 12288]/(12288%num); vm_compute. Qed.

(* log_3 d, rounded up, is not the knee. *)
Lemma knee_not_log : knee 11 <> up_log 3 11.
Proof. by move/eqP; rewrite -is_knee_valueE; vm_compute. Qed.

(* Claim: separation_rank/knee. C(L)/2 reaches D exactly from this depth on. *)
Corollary knee_checked d L (w := bin_of_nat d) :
  ((moment_count d).*2 <= moment_degree L)
  = (nat_of_bin (Reach.layers_value (2 * w * w + 2 * w + 1)) <= L).
Proof.
rewrite knee_least (_ : (2 * w * w + 2 * w + 1)%num = bin_of_nat (2 * d * d + 2 * d + 1)).
  by rewrite Reach.layers_valueE bin_of_natK /knee; congr (up_log _ _ <= L); lia.
by apply: (can_inj nat_of_binK); rewrite !(nat_of_add_bin, nat_of_mul_bin, bin_of_natK).
Qed.

(* 'C(a + b, a) as a fraction, without a division: its denominator is the factorial of the less. *)
Definition rising_step (n : N) (s : N * (N * N)) : N * (N * N) :=
  (N.succ s.1, (N.mul (N.add n (N.succ s.1)) s.2.1, N.mul (N.succ s.1) s.2.2)).
Definition rising (n k : N) : N * N := (N.iter k (rising_step n) (0%num, (1%num, 1%num))).2.
Definition stick_fraction (a b : N) : N * N := rising (N.max a b) (N.min a b).

Lemma risingE n k : rising #n #k = (#((n + k) ^_ k), #(k`!)).
Proof.
rewrite /rising Nnat.N2Nat.inj_iter Nnat.Nat2N.id.
suff -> : Nat.iter k (rising_step #n) (0%num, (1%num, 1%num)) = (#k, (#((n + k) ^_ k), #(k`!))).
  by [].
elim: k => [|k IH]; first by rewrite addn0.
rewrite /= IH /rising_step /= -Nnat.Nat2N.inj_succ -Nnat.Nat2N.inj_add -!Nnat.Nat2N.inj_mul.
by rewrite factS -[Nat.add n k.+1]/(n + k.+1) addnS ffactnS.
Qed.

Lemma stick_fractionE a b (f := (minn a b)`!) : stick_fraction #a #b = (#('C(a + b, a) * f), #f).
Proof.
rewrite /stick_fraction -Nnat.Nat2N.inj_max -Nnat.Nat2N.inj_min risingE; congr (#_, #_`!); last lia.
have -> : Nat.max a b = maxn a b by lia.
have -> : Nat.min a b = minn a b by lia.
rewrite addnC -bin_ffact addn_min_max; congr (_ * _).
by case: (leqP a b) => // _; rewrite -[LHS]bin_sub ?leq_addl // addnK.
Qed.

(* binom(D + h, D), and the least of (d + 1) binom(D + h, D), 3^(D L) and (d + 1)^C, as fractions:
   3^(D L) is never less than both others, and (d + 1)^C is left out where its length shows it to be
   no less. *)
Definition count_bounds_value (d L : N) : (N * N) * (N * N) :=
  let D := N.div (N.mul d (N.succ d)) 2 in
  let C := moment_degree_value L in
  let least := stick_fraction D (N.div2 C) in
  let most := N.mul (N.succ d) least.1 in
  let long := N.add (N.mul C (N.log2 (N.succ d))) (N.log2 least.2) in
  (least,
   if N.ltb (N.log2 most) long then (most, least.2)
   else let power := N.pow (N.succ d) C in
   if N.leb (N.mul least.2 power) most then (power, 1%num) else (most, least.2)).

Lemma long_power a b n c : (0 < c)%num -> (0 < b)%num ->
  N.ltb (N.log2 a) (n * N.log2 b + N.log2 c)%num -> (a <= c * b ^ n)%num.
Proof.
move=> c0 b0 /N.ltb_lt; case: (N.eq_0_gt_0_cases a) => [-> _|a0]; first exact: N.le_0_l.
move/N.le_succ_l => short; have [_ /N.lt_le_incl le] := N.log2_spec _ a0.
apply: N.le_trans le _; apply: N.le_trans (N.pow_le_mono_r 2 _ _ _ short) _ => //.
rewrite N.pow_add_r N.mul_comm [(n * _)%num]N.mul_comm N.pow_mul_r; apply: N.mul_le_mono.
  by have [] := N.log2_spec _ c0.
by apply: N.pow_le_mono_l; have [] := N.log2_spec _ b0.
Qed.

Lemma count_bounds_valueE d L (D := moment_count d) (C := moment_degree L)
    (least := 'C(D + C./2, D)) (v := count_bounds_value (bin_of_nat d) (bin_of_nat L)) : 0 < d ->
  [/\ 0 < nat_of_bin v.1.2, nat_of_bin v.1.1 = least * nat_of_bin v.1.2, 0 < nat_of_bin v.2.2 &
      nat_of_bin v.2.1 =
      minn (minn (d.+1 * least) (3 ^ (D * L))) (d.+1 ^ C) * nat_of_bin v.2.2].
Proof.
move=> d0; rewrite {}/v /count_bounds_value moment_degree_valueE !bin_of_natE.
rewrite -Nnat.Nat2N.inj_succ -Nnat.Nat2N.inj_mul -[Nat.mul _ _]/(d * d.+1) -moment_count_double.
have -> : #(moment_count d).*2 = N.mul #(moment_count d) 2 by lia.
rewrite N.div_mul // -/D -/C -Nnat.Nat2N.inj_div2.
have -> : PeanoNat.Nat.div2 C = C./2.
  by move: (C) => c; elim/ltn_ind: c => [[|[|c]]] //= IH; rewrite IH.
rewrite stick_fractionE -/least; have := fact_gt0 (minn D C./2); move: (_`!) => f f0.
have -> : minn (minn (d.+1 * least) (3 ^ (D * L))) (d.+1 ^ C) = minn (d.+1 * least) (d.+1 ^ C).
  rewrite /least /C; case: (L) => [|l]; last by rewrite (minn_idPl (stick_linear d l)).
  by rewrite muln0 (_ : moment_degree 0 = 0) // !expn0 -minnA minnn.
have ofK n : nat_of_bin #n = n by rewrite -bin_of_natE bin_of_natK.
clearbody least; clearbody C; lazy zeta beta iota delta [fst snd].
rewrite -Reach.of_nat_exp -!Nnat.Nat2N.inj_mul leb_of_nat.
rewrite -[Nat.mul d.+1 _]/(d.+1 * (least * f)) -[Nat.mul f _]/(f * d.+1 ^ C) mulnA [f * _]mulnC.
have kept : d.+1 * least * f <= d.+1 ^ C * f ->
    d.+1 * least * f = minn (d.+1 * least) (d.+1 ^ C) * f.
  by rewrite leq_pmul2r // => /minn_idPl ->.
case: ifP => [long|_]; last case: (leqP (d.+1 ^ C * f)) => le; lazy beta iota delta [fst snd].
all: rewrite ?ofK; split.
all: try exact: f0; try reflexivity.
- apply: kept; have := long_power _ _ long.
  rewrite -Reach.of_nat_exp -Nnat.Nat2N.inj_mul -[Nat.mul _ _]/(f * d.+1 ^ C) [f * _]mulnC.
  by move: (d.+1 ^ C * f) (d.+1 * least * f) => x y le; lia.
- by rewrite -[nat_of_bin 1]/1 muln1; apply/esym/minn_idPr; rewrite -(leq_pmul2r f0).
by apply: kept; exact: ltnW.
Qed.

(* Claim: separation_rank/count_bounds, without logarithms: S lies between these two fractions, and
   is at least 2^h while h <= D. *)
Corollary count_bounds_checked d L (v := count_bounds_value (bin_of_nat d) (bin_of_nat L)) :
  0 < d ->
  [/\ 0 < nat_of_bin v.1.2 /\ 0 < nat_of_bin v.2.2,
      nat_of_bin v.1.1 <= dimension_count d L * nat_of_bin v.1.2,
      dimension_count d L * nat_of_bin v.2.2 <= nat_of_bin v.2.1 &
      (moment_degree L)./2 <= moment_count d -> 2 ^ (moment_degree L)./2 <= dimension_count d L].
Proof.
move=> d0; have [pos1 e1 pos2 e2] := count_bounds_valueE L d0.
rewrite {}/v e1 e2; have /andP[le most] := count_bounds L d0; split.
- by split.
- exact: leq_mul.
- apply: leq_mul => //; rewrite !leq_min most count_upper_linear // andTb.
  exact: count_upper_theorem_1.
exact: count_lower_exponential.
Qed.

(* --- instances -------------------------------------------------------------------------------- *)

Example hockey_stick_met : monomials 2 0 + monomials 2 1 + monomials 2 2 + monomials 2 3 = 10.
Proof. by have := @hockey_stick 2 3 isT; rewrite !big_ord_recr big_ord0. Qed.
Example two_tokens_count_met : \sum_(m < 5) 'C(m + 2 - 1, 2 - 1) = 15.
Proof. exact: (@two_tokens_count 2 4). Qed.

(* Width 2 and depth 2, that is D = 3 and C = 4: the closed form at its split 1 is 18, another
   split a larger bound. *)
Example closed_form_met : sum_of_minima 2 3 4 = 18.
Proof. exact: (@closed_form 2 3 4 isT 1). Qed.
Example split_bound_met : sum_of_minima 2 3 4 <= 24.
Proof. exact: (@split_bound 2 3 4 isT 2). Qed.
(* The same from the value on binary numbers. *)
Example S_value_met : dimension_count 2 2 = 18.
Proof. by apply: (can_inj bin_of_natK); rewrite -S_valueE //; vm_compute. Qed.

Example count_bounds_met : 10 <= dimension_count 2 2 <= 30.
Proof. exact: (@count_bounds 2 2 isT). Qed.
Example count_bounds_checked_met :
  20 <= dimension_count 2 2 * 2 <= 60 /\ 4 <= dimension_count 2 2.
Proof.
have [_ le most two] := @count_bounds_checked 2 2 isT.
by split; [apply/andP; split; [exact: le | exact: most] | exact: two].
Qed.
Example count_upper_met : dimension_count 2 2 <= 81 /\ dimension_count 2 2 <= 729.
Proof.
by split; [exact: (@count_upper_theorem_1 2 2 isT) | exact: (@count_upper_linear 2 2 isT)].
Qed.
Example count_lower_met : 4 <= dimension_count 2 2.
Proof. exact: (@count_lower_exponential 2 2 isT isT). Qed.
Example count_depths : [seq dimension_count 2 L | L <- iota 0 3] = [:: 1; 3; 18].
Proof. by rewrite /= count_depth_0 // count_depth_1 // count_depth_2. Qed.
Example count_grows :
  dimension_count 2 2 < dimension_count 2 3 /\ dimension_count 2 2 < dimension_count 3 2.
Proof. by split; [exact: count_depth_monotone | exact: count_width_monotone]. Qed.
(* The knee of width 11 is 6. *)
Example knee_near_met : 5 <= knee 11 <= 7.
Proof. exact: (@knee_near 11 isT). Qed.
