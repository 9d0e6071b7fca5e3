(* The dimension count S(d, L) of theory/separation_rank/dimension_count.py: a sum of minima of two
   binomial coefficients; its closed form, bounds, growth and knee, and its values on binary
   numbers. That S bounds the separation rank (claim separation_rank/dimension_count) is not shown
   here: this file is about the number. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.
From depthlaw Require Import Degree.

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
Proof. by case: D => // -[_|D _]; [rewrite /monomials !add1n !subn1 !binn|rewrite monomialsS ?leq_addl]. Qed.

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
