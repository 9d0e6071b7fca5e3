(* Scales that depend on depth: DeepNorm, ADMIN and powers of the depth.

   Claims of theory/signal_propagation/depth_scaling.py: deepnorm_scales, branch_shares, the latter
   linked. Roots are said by powers: alpha = (2 N)^(1/4) is alpha > 0 with alpha^4 = 2 N, over every
   ordered field. These are statements on scales and variances; nothing is said on training. *)

From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring zify.
From Depthlaw Require Import Signal.
From Depthlaw Require Collapse.

Import Order.TTheory GRing.Theory Num.Theory.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.

(* --- DeepNorm --- *)

Section DeepNorm.

Variable R : realFieldType.
Implicit Types (alpha beta v w : R) (N M : nat).

(* DeepNorm's sum over sublayers, of (v^2 + w^2)/alpha^2. *)
Definition update_sum (sublayers : nat) alpha v w : R :=
  \sum_(i < sublayers) (v ^+ 2 + w ^+ 2) / alpha ^+ 2.

(* In an encoder before a decoder of M layers each term is times M v_d w_d/alpha_d. *)
Definition encoder_sum (sublayers : nat) M (alpha_d v_d w_d alpha v w : R) : R :=
  \sum_(i < sublayers) M%:R * v_d * w_d / alpha_d * ((v ^+ 2 + w ^+ 2) / alpha ^+ 2).

(* What the printed scales satisfy besides. *)
Definition balanced alpha beta : Prop := 2%:R * alpha ^+ 2 * beta ^+ 2 = 1.

Lemma eq_power k (x y : R) : (0 < k)%N -> 0 <= x -> 0 <= y -> x ^+ k = y ^+ k -> x = y.
Proof. by move=> k0 x0 y0; apply: (pexpIrn k0); rewrite nnegrE. Qed.

Lemma scales_of_terms (T alpha beta : R) : 0 < alpha -> 0 < beta -> 0 < T ->
  (T * ((beta ^+ 2 + beta ^+ 2) / alpha ^+ 2) = 1 /\ balanced alpha beta) <->
  (alpha ^+ 4 = T /\ beta ^+ 4 = (4%:R * T)^-1).
Proof.
move=> a0 b0 T0; have an := lt0r_neq0 a0; have bn := lt0r_neq0 b0; have Tn := lt0r_neq0 T0.
rewrite /balanced; split=> [[sum bal]|[aT bT]].
  have b2 : beta ^+ 2 = (2%:R * alpha ^+ 2)^-1.
    by apply: (mulfI (_ : 2%:R * alpha ^+ 2 != 0)); rewrite ?bal ?divff // mulf_neq0 ?expf_neq0 //
      pnatr_eq0.
  have aT : alpha ^+ 4 = T.
    move: sum; rewrite b2 => /(congr1 (fun x => x * alpha ^+ 4)); rewrite mul1r => <-.
    by field.
  split=> //; rewrite (exprM _ 2 2) b2 -aT.
  by field.
have b2 : beta ^+ 2 = (2%:R * alpha ^+ 2)^-1.
  apply: (@eq_power 2); rewrite ?sqr_ge0 //.
    by rewrite invr_ge0 mulr_ge0 ?ler0n ?sqr_ge0.
  by rewrite -exprM bT -aT; field.
by rewrite b2 -aT; split; field.
Qed.

Lemma update_sumE n alpha v w :
  update_sum n alpha v w = n%:R * ((v ^+ 2 + w ^+ 2) / alpha ^+ 2).
Proof. by rewrite /update_sum sumr_const card_ord mulr_natl. Qed.

(* Claim: signal_propagation/deepnorm_scales. In a stack of N layers the two equations hold exactly
   at alpha = (2 N)^(1/4) and beta = (8 N)^(-1/4), and nowhere else. *)
Theorem deepnorm_alone N alpha beta : (0 < N)%N -> 0 < alpha -> 0 < beta ->
  (update_sum (2 * N) alpha beta beta = 1 /\ balanced alpha beta) <->
  (alpha ^+ 4 = 2%:R * N%:R /\ beta ^+ 4 = (8%:R * N%:R)^-1).
Proof.
move=> N0 a0 b0; have T0 : 0 < (2 * N)%:R :> R by rewrite ltr0n muln_gt0.
have -> : 8%:R * N%:R = 4%:R * (2 * N)%:R :> R by rewrite natrM mulrA -(natrM _ 4).
by rewrite update_sumE -natrM; apply: scales_of_terms.
Qed.

(* The decoder of M layers of an encoder-decoder: (3 M)^(1/4) and (12 M)^(-1/4). *)
Theorem deepnorm_decoder M alpha beta : (0 < M)%N -> 0 < alpha -> 0 < beta ->
  (update_sum (3 * M) alpha beta beta = 1 /\ balanced alpha beta) <->
  (alpha ^+ 4 = 3%:R * M%:R /\ beta ^+ 4 = (12%:R * M%:R)^-1).
Proof.
move=> M0 a0 b0; have T0 : 0 < (3 * M)%:R :> R by rewrite ltr0n muln_gt0.
have -> : 12%:R * M%:R = 4%:R * (3 * M)%:R :> R by rewrite natrM mulrA -(natrM _ 4).
by rewrite update_sumE -natrM; apply: scales_of_terms.
Qed.

(* The decoder's printed scales. *)
Definition decoder_scales M (alpha_d v_d w_d : R) : Prop :=
  [/\ 0 < alpha_d /\ alpha_d ^+ 4 = 3%:R * M%:R,
      0 < v_d /\ v_d ^+ 4 = (12%:R * M%:R)^-1 & 0 < w_d /\ w_d ^+ 4 = (12%:R * M%:R)^-1].

Lemma encoder_sumE n M alpha_d v_d w_d alpha v w :
  encoder_sum n M alpha_d v_d w_d alpha v w =
  n%:R * (M%:R * v_d * w_d / alpha_d) * ((v ^+ 2 + w ^+ 2) / alpha ^+ 2).
Proof. by rewrite /encoder_sum sumr_const card_ord -mulr_natl mulrA. Qed.

Lemma encoder_terms N M alpha_d v_d w_d : (0 < N)%N -> (0 < M)%N ->
  decoder_scales M alpha_d v_d w_d ->
  let T := (2 * N)%:R * (M%:R * v_d * w_d / alpha_d) in
  0 < T /\ T ^+ 4 = N%:R ^+ 4 * M%:R / 27%:R.
Proof.
move=> N0 M0 [[ad0 ad] [vd0 vd] [wd0 wd]] T.
have NR : 0 < N%:R :> R by rewrite ltr0n.
have MR : 0 < M%:R :> R by rewrite ltr0n.
split; first by rewrite /T !(mulr_gt0, divr_gt0, invr_gt0) // ltr0n muln_gt0.
rewrite /T !exprMn exprVn vd wd ad natrM.
by have := lt0r_neq0 MR; move: (M%:R : R) (N%:R : R) => x y x0; field.
Qed.

(* The encoder of N layers before it: (N^4 M/27)^(1/16) and (256 N^4 M/27)^(-1/16), which are
   3^(-3/16) (N^4 M)^(1/16) and 3^(3/16)/sqrt(2) (N^4 M)^(-1/16). *)
Theorem deepnorm_encoder N M alpha_d v_d w_d alpha beta :
  (0 < N)%N -> (0 < M)%N -> decoder_scales M alpha_d v_d w_d -> 0 < alpha -> 0 < beta ->
  (encoder_sum (2 * N) M alpha_d v_d w_d alpha beta beta = 1 /\ balanced alpha beta) <->
  (27%:R * alpha ^+ 16 = N%:R ^+ 4 * M%:R /\
   256%:R * beta ^+ 16 = 27%:R * (N%:R ^+ 4 * M%:R)^-1).
Proof.
move=> N0 M0 dec a0 b0; have [T0 T4] := encoder_terms N0 M0 dec.
rewrite encoder_sumE; set T := _ * (_ / _) in T0 T4 *.
have Tn := lt0r_neq0 T0.
have -> : N%:R ^+ 4 * M%:R = 27%:R * T ^+ 4 :> R by rewrite T4; field.
have tn : 27%:R != 0 :> R by rewrite pnatr_eq0.
rewrite (scales_of_terms a0 b0 T0); split=> [[aT bT]|[aT bT]].
  rewrite (_ : 16 = 4 * 4)%N // !exprM aT bT; split=> //.
  by field.
have {}aT : alpha ^+ 4 = T.
  apply: (@eq_power 4) => //; rewrite ?exprn_ge0 // ?ltW //.
  by rewrite -exprM; apply: (mulfI tn).
split=> //; apply: (@eq_power 4) => //.
- by rewrite exprn_ge0 // ltW.
- by rewrite invr_ge0 mulr_ge0 ?ler0n // ltW.
rewrite -exprM; apply: (mulfI (_ : 256%:R != 0)); first by rewrite pnatr_eq0.
by rewrite bT; field.
Qed.

End DeepNorm.


(* --- existence --- *)
Definition fourth_root (R : rcfType) (x : R) : R := Num.sqrt (Num.sqrt x).

Lemma fourth_rootK (R : rcfType) (x : R) :
  0 < x -> 0 < fourth_root x /\ fourth_root x ^+ 4 = x.
Proof.
move=> x0; rewrite !sqrtr_gt0 x0; split=> //.
by rewrite (exprM _ 2 2) !sqr_sqrtr // ltW // sqrtr_gt0.
Qed.

(* With square roots such scales exist at every depth, so the hypotheses above can be met. *)
Theorem deepnorm_exists (R : rcfType) N : (0 < N)%N ->
  exists alpha beta : R, [/\ 0 < alpha, 0 < beta,
    update_sum (2 * N) alpha beta beta = 1 & balanced alpha beta].
Proof.
move=> N0; have NR : 0 < N%:R :> R by rewrite ltr0n.
have [a0 aE] := fourth_rootK (mulr_gt0 (ltr0Sn R 1) NR).
have b1 : 0 < (8%:R * N%:R)^-1 :> R by rewrite invr_gt0 mulr_gt0 // ltr0n.
have [b0 bE] := fourth_rootK b1.
exists (fourth_root (2%:R * N%:R)), (fourth_root (8%:R * N%:R)^-1).
by have [_ [|]] := deepnorm_alone N0 a0 b0.
Qed.

(* So do the encoder's, with the decoder's. *)
Theorem deepnorm_encoder_exists (R : rcfType) N M : (0 < N)%N -> (0 < M)%N ->
  exists alpha_d v_d w_d alpha beta : R, [/\ decoder_scales M alpha_d v_d w_d,
    0 < alpha, 0 < beta, encoder_sum (2 * N) M alpha_d v_d w_d alpha beta beta = 1 &
    balanced alpha beta].
Proof.
move=> N0 M0; have MR : 0 < M%:R :> R by rewrite ltr0n.
have v1 : 0 < (12%:R * M%:R)^-1 :> R by rewrite invr_gt0 mulr_gt0 // ltr0n.
have adE := fourth_rootK (mulr_gt0 (ltr0Sn R 2) MR).
have vE := fourth_rootK v1.
have dec : decoder_scales M (fourth_root (3%:R * M%:R)) (fourth_root (12%:R * M%:R)^-1)
  (fourth_root (12%:R * M%:R)^-1 : R) by [].
have [T0 _] := encoder_terms N0 M0 dec.
set T := _ * _ in T0; have [a0 aE] := fourth_rootK T0.
have b1 : 0 < (4%:R * T)^-1 by rewrite invr_gt0 mulr_gt0 // ltr0n.
have [b0 bE] := fourth_rootK b1.
do 3!eexists; exists (fourth_root T), (fourth_root (4%:R * T)^-1).
have [_ [|sum bal]] := scales_of_terms a0 b0 T0; first by [].
by split; [exact: dec| | | rewrite encoder_sumE|].
Qed.

Section Printed.
Variable R : realFieldType.

(* With the printed digits, 0.81 (N^4 M)^(1/16) and 0.87 (N^4 M)^(-1/16), the encoder's sum is
   2 (0.87/0.81)^2/27^(1/4) for all N and M, said by its fourth power. That this is 1.0122 is
   not stated. *)
Theorem deepnorm_encoder_digits N M (alpha_d v_d w_d s : R) :
  (0 < N)%N -> (0 < M)%N -> decoder_scales M alpha_d v_d w_d ->
  0 < s -> s ^+ 16 = N%:R ^+ 4 * M%:R ->
  let alpha := 81%:R / 100%:R * s in let beta := 87%:R / 100%:R / s in
  let sum := encoder_sum (2 * N) M alpha_d v_d w_d alpha beta beta in
  sum ^+ 4 = (2%:R * (87%:R / 81%:R) ^+ 2) ^+ 4 / 27%:R.
Proof.
move=> N0 M0 dec s0 sE alpha beta sum; have [T0 T4] := encoder_terms N0 M0 dec.
have s0' := lt0r_neq0 s0.
rewrite /sum encoder_sumE exprMn T4 -sE /alpha /beta.
by field.
Qed.

(* The decoder's v^2 + w^2 is (3 M)^(-1/2); it is (3 M)^(1/2), as a transcription has it, at no
   depth. *)
Theorem decoder_gains_sign M (alpha_d v_d w_d : R) : (0 < M)%N ->
  decoder_scales M alpha_d v_d w_d ->
  (v_d ^+ 2 + w_d ^+ 2) ^+ 2 = (3%:R * M%:R)^-1 /\
  (v_d ^+ 2 + w_d ^+ 2) ^+ 2 <> 3%:R * M%:R.
Proof.
move=> M0 [_ [v0 vE] [w0 wE]]; have MR : 0 < M%:R :> R by rewrite ltr0n.
have wv : w_d = v_d by apply: (@eq_power R 4); rewrite ?ltW // wE.
have MR' := lt0r_neq0 MR.
have -> : (v_d ^+ 2 + w_d ^+ 2) ^+ 2 = (3%:R * M%:R)^-1.
  rewrite wv (_ : _ ^+ 2 = 4%:R * v_d ^+ 4); last by ring.
  by rewrite vE; field.
split=> // eq1; suff : (1 : R) = (3 * M)%:R * (3 * M)%:R.
  by rewrite -natrM => /eqP; rewrite eq_sym pnatr_eq1; lia.
by rewrite natrM -{2}eq1 divff // mulf_neq0 // pnatr_eq0.
Qed.
End Printed.

(* --- powers of the depth --- *)

Section PowerLaws.
Variable R : realFieldType.
Implicit Types (f g : nat -> R) (p r : int) (q s : nat).

(* f L is c^(1/q) L^(p/q) at every depth L > 0. *)
Definition power_law f p q : Prop :=
  exists2 c, 0 < c & forall L, (0 < L)%N -> 0 < f L /\ f L ^+ q = c * L%:R ^ p.

Lemma nat_pos L : (0 < L)%N -> 0 < L%:R :> R. Proof. by rewrite ltr0n. Qed.

Lemma exprzn (x : R) p n : (x ^ p) ^+ n = x ^ (p * n%:Z).
Proof. by rewrite -exprz_exp. Qed.

Lemma power_lawM f g p r q : power_law f p q -> power_law g r q ->
  power_law (fun L => f L * g L) (p + r) q.
Proof.
move=> [c c0 fE] [d d0 gE]; exists (c * d); first exact: mulr_gt0.
move=> L L0; have [f0 fL] := fE L L0; have [g0 gL] := gE L L0.
split; first exact: mulr_gt0.
by rewrite exprMn fL gL expfzDr ?lt0r_neq0 ?nat_pos // mulrACA.
Qed.

Lemma power_lawV f p q : power_law f p q -> power_law (fun L => (f L)^-1) (- p) q.
Proof.
move=> [c c0 fE]; exists c^-1; first by rewrite invr_gt0.
move=> L L0; have [f0 fL] := fE L L0; split; first by rewrite invr_gt0.
by rewrite exprVn fL invfM invr_expz.
Qed.

Lemma power_lawX f p q n : power_law f p q -> power_law (fun L => f L ^+ n) (p * n%:Z) q.
Proof.
move=> [c c0 fE]; exists (c ^+ n); first exact: exprn_gt0.
move=> L L0; have [f0 fL] := fE L L0; split; first exact: exprn_gt0.
by rewrite exprAC fL exprMn exprzn.
Qed.

Lemma power_lawZ f p q a : 0 < a -> power_law f p q -> power_law (fun L => a * f L) p q.
Proof.
move=> a0 [c c0 fE]; exists (a ^+ q * c); first by rewrite mulr_gt0 ?exprn_gt0.
move=> L L0; have [f0 fL] := fE L L0; split; first exact: mulr_gt0.
by rewrite exprMn fL mulrA.
Qed.

Lemma power_law_depth q : power_law (fun L => L%:R) q q.
Proof. by exists 1; rewrite ?ltr01 // => L L0; rewrite nat_pos // mul1r. Qed.

Lemma eq_power_law f g p q : (forall L, (0 < L)%N -> f L = g L) -> power_law f p q ->
  power_law g p q.
Proof. by move=> fg [c c0 fE]; exists c => // L L0; rewrite -fg //; apply: fE. Qed.

(* A quantity goes as one power of the depth only: p/q = r/s. *)
Theorem power_law_unique f p q r s : power_law f p q -> power_law f r s ->
  p * s%:Z = r * q%:Z.
Proof.
move=> [c c0 fE] [d d0 gE].
have [f1 c1] := fE 1%N isT; have [_ d1] := gE 1%N isT.
have [f2 c2] := fE 2%N isT; have [_ d2] := gE 2%N isT.
move: c1 d1; rewrite !exp1rz !mulr1 => c1 d1.
have := exprAC (f 2%N) q s; rewrite c2 d2 !exprMn !exprzn -c1 -d1 exprAC.
move=> /(mulfI (expf_neq0 _ (expf_neq0 _ (lt0r_neq0 f1)))).
by apply: ieexprIz; rewrite ?ltr0n // pnatr_eq1.
Qed.
End PowerLaws.

Section Bounds.
Variable R : archiFieldType.
Implicit Types (f g alpha beta : nat -> R) (p r : int) (q : nat).

(* Bounds that hold at every depth. *)
Definition bounded f : Prop := exists B, forall L, (0 < L)%N -> f L <= B.
Definition bounded_below f : Prop := exists2 b, 0 < b & forall L, (0 < L)%N -> b <= f L.

Lemma power_law_above f p q b : (0 < q)%N -> 0 < p -> power_law f p q ->
  exists n, forall L, (n <= L)%N -> b < f L.
Proof.
move=> q0 p0 [c c0 fE].
pose B := Num.max b 1; have B0 : 0 < B by rewrite lt_max ltr01 orbT.
exists (Num.bound (B ^+ q / c)).+1 => L nL; have L0 : (0 < L)%N by apply: leq_trans nL.
have [f0 fL] := fE L L0; apply: (@le_lt_trans _ _ B); first by rewrite le_max lexx.
have nnB : B \is Num.nneg by rewrite nnegrE ltW.
have nnf : f L \is Num.nneg by rewrite nnegrE ltW.
rewrite -(ltr_pXn2r q0 nnB nnf) fL -ltr_pdivrMl // mulrC.
have Bc : 0 <= B ^+ q / c by rewrite divr_ge0 ?exprn_ge0 // ltW.
apply: (lt_le_trans (archi_boundP Bc)); apply: (@le_trans _ _ L%:R).
  by rewrite ler_nat ltnW.
case: p p0 {fE fL} => // -[//|n] _; rewrite -exprnP exprS ler_peMr ?ler0n //.
by rewrite exprn_ege1 // ler1n.
Qed.

(* L^(p/q) is bounded over all depths exactly for p <= 0. *)
Theorem power_law_bounded f p q : (0 < q)%N -> power_law f p q -> bounded f <-> p <= 0.
Proof.
move=> q0 law; split=> [[B fB]|p0].
  rewrite leNgt; apply/negP => p0; have [n above] := power_law_above B q0 p0 law.
  by have := above n.+1 (leqnSn n); rewrite ltNge fB.
have [c c0 fE] := law; exists (f 1%N) => L L0.
have [f0 fL] := fE L L0; have [f1 f1E] := fE 1%N isT.
have nnf : f L \is Num.nneg by rewrite nnegrE ltW.
have nn1 : f 1%N \is Num.nneg by rewrite nnegrE ltW.
rewrite -(ler_pXn2r q0 nnf nn1) fL f1E exp1rz ler_pM2l //.
case: p p0 {law fE fL f1E} => // [[|n]|n] // _.
rewrite NegzE -exprnN invf_le1 ?exprn_gt0 ?ltr0n //.
by rewrite exprn_ege1 // ler1n.
Qed.

(* It stays above a positive number exactly for p >= 0. *)
Theorem power_law_bounded_below f p q : (0 < q)%N -> power_law f p q ->
  bounded_below f <-> 0 <= p.
Proof.
move=> q0 law; have lawV := power_lawV law.
rewrite -[0 <= p]oppr_le0 -(power_law_bounded q0 lawV).
have [c c0 fE] := law; split=> [[b b0 fb]|[B fB]].
  exists b^-1 => L L0; have [f0 _] := fE L L0.
  by rewrite lef_pV2 ?posrE // fb.
have B0 : 0 < B.
  by apply: lt_le_trans (fB 1%N isT); rewrite invr_gt0; have [] := fE 1%N isT.
exists B^-1; first by rewrite invr_gt0.
move=> L L0; have [f0 _] := fE L L0.
by rewrite -[leRHS]invrK lef_pV2 ?posrE ?invr_gt0 // fB.
Qed.

(* --- the exponents of DeepNorm --- *)
Lemma update_sum_power alpha beta p r q : power_law alpha p q -> power_law beta r q ->
  power_law (fun N => update_sum (2 * N) (alpha N) (beta N) (beta N))
    (q%:Z + 2%:Z * r - 2%:Z * p) q.
Proof.
move=> lawa lawb.
have := power_lawM (power_lawM (power_law_depth R q) (power_lawX 2 lawb))
                   (power_lawV (power_lawX 2 lawa)).
move=> /(power_lawZ (ltr0Sn R 3)).
rewrite (_ : _ - _ = q%:Z + 2%:Z * r - 2%:Z * p); last by ring.
apply: eq_power_law => N N0; rewrite update_sumE natrM.
have [c _ aE] := lawa; have [/lt0r_neq0 a0 _] := aE N N0.
by move: (alpha N) (beta N) N%:R a0 => a b x a0; field.
Qed.

(* Where alpha goes as N^(p/q) and beta as N^(r/q), the sum is bounded over all depths exactly for
   (p - r)/q >= 1/2 and bounded away from zero exactly for (p - r)/q <= 1/2; alpha beta stays
   between positive bounds as well exactly for p/q = 1/4 and r/q = -1/4. *)
Theorem deepnorm_exponents alpha beta p r q : (0 < q)%N ->
  power_law alpha p q -> power_law beta r q ->
  let sum N := update_sum (2 * N) (alpha N) (beta N) (beta N) in
  let product N := alpha N * beta N in
  [/\ bounded sum <-> q%:Z <= 2%:Z * (p - r), bounded_below sum <-> 2%:Z * (p - r) <= q%:Z &
      (bounded sum /\ bounded_below sum /\ bounded product /\ bounded_below product) <->
      (4%:Z * p = q%:Z /\ r = - p)].
Proof.
move=> q0 lawa lawb sum product.
have laws := update_sum_power lawa lawb; have lawp := power_lawM lawa lawb.
have bs := power_law_bounded q0 laws; have bbs := power_law_bounded_below q0 laws.
have bp := power_law_bounded q0 lawp; have bbp := power_law_bounded_below q0 lawp.
split; [by rewrite bs; split; lia|by rewrite bbs; split; lia|].
split=> [[/bs b1 [/bbs b2 [/bp b3 /bbp b4]]]|[e1 e2]]; first by split; lia.
by split; [apply/bs|split; [apply/bbs|split; [apply/bp|apply/bbp]]]; lia.
Qed.

End Bounds.

(* --- ADMIN --- *)

Section Shares.
Variables (R : rcfType) (Omega : finType) (mass : Omega -> R).

(* Means over a finite law, and covariances. *)
Definition cov (x y : Omega -> R) : R :=
  mean mass (fun w => x w * y w) - mean mass x * mean mass y.
Definition var (x : Omega -> R) : R := cov x x.

Lemma var_sum (a : R) (x f : Omega -> R) :
  cov x f = 0 -> var (fun w => a * x w + f w) = a ^+ 2 * var x + var f.
Proof.
have meanE : mean mass (fun w => (a * x w + f w) * (a * x w + f w)) =
    a ^+ 2 * mean mass (fun w => x w * x w) + 2%:R * a * mean mass (fun w => x w * f w) +
    mean mass (fun w => f w * f w).
  by rewrite -!meanZ -!meanD; apply: eq_mean => w; ring.
have linE : mean mass (fun w => a * x w + f w) = a * mean mass x + mean mass f.
  by rewrite -meanZ -meanD.
rewrite /var /cov meanE linE => /eqP; rewrite subr_eq0 => /eqP ->.
by move: (mean mass x) (mean mass f) => p q; ring.
Qed.

Lemma varZ (a : R) (x : Omega -> R) : var (fun w => a * x w) = a ^+ 2 * var x.
Proof.
rewrite /var /cov meanZ (_ : mean _ _ = a ^+ 2 * mean mass (fun w => x w * x w)).
  by move: (mean _ _) (mean mass x) => p q; ring.
by rewrite -meanZ; apply: eq_mean => w; ring.
Qed.

Variables (x0 : Omega -> R) (f : nat -> Omega -> R).

(* The sum that branch i makes: omega x + f, where x is the stream before it. *)
Definition summed (omega : R) (x : Omega -> R) (i : nat) : Omega -> R :=
  fun w => omega * x w + f i w.
Definition share (omega : R) (x : Omega -> R) (i : nat) : R := var (f i) / var (summed omega x i).

(* LayerNorm as a rescaling to variance 1. *)
Definition normalised (x : Omega -> R) : Omega -> R := fun w => (Num.sqrt (var x))^-1 * x w.

Fixpoint pre_ln (i : nat) : Omega -> R := if i is j.+1 then summed 1 (pre_ln j) j else x0.
Fixpoint post_ln (omega : nat -> R) (i : nat) : Omega -> R :=
  if i is j.+1 then normalised (summed (omega j) (post_ln omega j) j) else x0.

Lemma normalised_var x : 0 < var x -> var (normalised x) = 1.
Proof.
by move=> v0; rewrite varZ exprVn sqr_sqrtr ?mulVf ?lt0r_neq0 // ltW.
Qed.

Section Writes.
Variable n : nat.
Hypotheses (start : var x0 = 1) (branch : forall i, (i < n)%N -> 0 < var (f i)).

Lemma pre_ln_var i : (i <= n)%N -> (forall j, (j < n)%N -> cov (pre_ln j) (f j) = 0) ->
  var (pre_ln i) = 1 + \sum_(j < i) var (f j).
Proof.
move=> + fresh; elim: i => [|i IH] ilt; first by rewrite big_ord0 addr0.
rewrite /= /summed (var_sum 1 (fresh i ilt)) (IH (ltnW ilt)) expr1n mul1r big_ord_recr /=.
exact: esym (addrA _ _ _).
Qed.

Lemma post_ln_var omega i : (i <= n)%N ->
  (forall j, (j < n)%N -> cov (post_ln omega j) (f j) = 0) -> var (post_ln omega i) = 1.
Proof.
move=> + fresh; elim: i => [|i IH] ilt; first exact: start.
apply: normalised_var; rewrite /summed (var_sum _ (fresh i ilt)) (IH (ltnW ilt)) mulr1.
by apply: ltr_wpDl; [apply: sqr_ge0|apply: branch].
Qed.

(* ADMIN, where omega_i^2 is the variance of the start and of all branches before i, gives post-LN
   the branch shares of pre-LN, whatever variances the branches write: f is the same in both. *)
Theorem admin_shares omega i : (i < n)%N ->
  (forall j, (j < n)%N -> cov (pre_ln j) (f j) = 0) ->
  (forall j, (j < n)%N -> cov (post_ln omega j) (f j) = 0) ->
  omega i ^+ 2 = 1 + \sum_(j < i) var (f j) ->
  share (omega i) (post_ln omega i) i = share 1 (pre_ln i) i.
Proof.
move=> ilt fresh fresh' omegaE.
rewrite /share /summed (var_sum _ (fresh i ilt)) (var_sum _ (fresh' i ilt)).
by rewrite (pre_ln_var (ltnW ilt) fresh) (post_ln_var (ltnW ilt) fresh') omegaE expr1n mul1r mulr1.
Qed.

End Writes.

Section UnitWrites.
Variable n : nat.
Hypotheses (start : var x0 = 1) (unit_write : forall i, (i < n)%N -> var (f i) = 1).

Let branch i : (i < n)%N -> 0 < var (f i).
Proof. by move=> ilt; rewrite (unit_write ilt); apply: ltr01. Qed.

Let sum_writes i : (i <= n)%N -> \sum_(j < i) var (f j) = i%:R.
Proof.
move=> ilt; rewrite (eq_bigr (fun=> 1)) ?sumr_const ?card_ord // => j _.
exact: unit_write (leq_trans (ltn_ord j) ilt).
Qed.

(* Claim: signal_propagation/branch_shares. Branches of variance 1, each uncorrelated with the
   stream before it, counted from 0: branch i has share 1/(i + 2) of its own sum in pre-LN, *)
Theorem pre_ln_share i : (i < n)%N ->
  (forall j, (j < n)%N -> cov (pre_ln j) (f j) = 0) -> share 1 (pre_ln i) i = i.+2%:R^-1.
Proof.
have two : i.+2%:R = 1 + i%:R + 1 :> R by rewrite (natS _ i.+1) (natS _ i) [1 + _]addrC.
move=> ilt fresh.
rewrite /share /summed (var_sum _ (fresh i ilt)) (pre_ln_var start (ltnW ilt) fresh).
by rewrite (unit_write ilt) (sum_writes (ltnW ilt)) expr1n !mul1r two.
Qed.

(* 1/2 in post-LN, at every depth, *)
Theorem post_ln_share i : (i < n)%N ->
  (forall j, (j < n)%N -> cov (post_ln (fun=> 1) j) (f j) = 0) ->
  share 1 (post_ln (fun=> 1) i) i = 2%:R^-1.
Proof.
move=> ilt fresh; rewrite /share /summed (var_sum _ (fresh i ilt)).
by rewrite (post_ln_var start branch (ltnW ilt) fresh) (unit_write ilt) expr1n !mul1r.
Qed.

(* and 1/(i + 2) in post-LN with ADMIN's omega. *)
Theorem admin_share omega i : (i < n)%N ->
  (forall j, (j < n)%N -> cov (post_ln omega j) (f j) = 0) ->
  omega i ^+ 2 = 1 + \sum_(j < i) var (f j) ->
  share (omega i) (post_ln omega i) i = i.+2%:R^-1.
Proof.
have two : i.+2%:R = 1 + i%:R + 1 :> R by rewrite (natS _ i.+1) (natS _ i) [1 + _]addrC.
move=> ilt fresh omegaE; rewrite /share /summed (var_sum _ (fresh i ilt)).
rewrite (post_ln_var start branch (ltnW ilt) fresh) (unit_write ilt) omegaE (sum_writes (ltnW ilt)).
by rewrite mulr1 mul1r two.
Qed.

End UnitWrites.
End Shares.

(* --- the theorem with the numbers that the claim compares --- *)

Local Notation quotient v := ((nat_of_bin v.1)%:R / (nat_of_bin v.2)%:R).

(* 1/(1 + n^s) on binary numbers. *)
Definition branch_share_value (n s : N) : N * N := (1, 1 + N.pow n s)%num.

Lemma branch_share_valueE (R : realFieldType) (n s : nat) :
  (1 + n%:R ^+ s)^-1 = quotient (branch_share_value (bin_of_nat n) (bin_of_nat s)) :> R.
Proof.
rewrite /branch_share_value; lazy beta iota delta [fst snd].
by rewrite nat_of_add_bin pow_bin !bin_of_natK natrD natrX mul1r.
Qed.

(* Claim: signal_propagation/branch_shares. The share of branch n, counted from 1, of a pre-LN net,
   of a post-LN net, and of a post-LN net with ADMIN's omega. *)
Corollary branch_shares_checked (R : rcfType) (Omega : finType) (mass : Omega -> R)
    (x0 : Omega -> R) (f : nat -> Omega -> R) (omega : nat -> R) n :
  (0 < n)%N -> var mass x0 = 1 -> (forall i, (i < n)%N -> var mass (f i) = 1) ->
  (forall i, (i < n)%N -> [/\ cov mass (pre_ln x0 f i) (f i) = 0,
    cov mass (post_ln mass x0 f (fun=> 1) i) (f i) = 0 &
    cov mass (post_ln mass x0 f omega i) (f i) = 0]) ->
  omega n.-1 ^+ 2 = var mass x0 + \sum_(j < n.-1) var mass (f j) ->
  let v s := branch_share_value (bin_of_nat n) s in
  [/\ share mass f 1 (pre_ln x0 f n.-1) n.-1 = quotient (v 1%num),
      share mass f 1 (post_ln mass x0 f (fun=> 1) n.-1) n.-1 = quotient (v 0%num) &
      share mass f (omega n.-1) (post_ln mass x0 f omega n.-1) n.-1 = quotient (v 1%num)].
Proof.
case: n => // n _ start unit fresh; rewrite [n.+1.-1]/= start => omegaE v.
have E1 : n.+2%:R^-1 = quotient (v 1%num) :> R.
  by rewrite /v -[1%num]/(bin_of_nat 1) -branch_share_valueE expr1 (natS _ n.+1) addrC.
have E0 : 2%:R^-1 = quotient (v 0%num) :> R.
  by rewrite /v -[0%num]/(bin_of_nat 0) -branch_share_valueE expr0.
rewrite -E1 -E0; split.
- by apply: pre_ln_share (ltnSn n) _ => // j jn; have [] := fresh j jn.
- by apply: (post_ln_share start unit (ltnSn n)) => j jn; have [] := fresh j jn.
- by apply: (admin_share start unit (ltnSn n)) => // j jn; have [] := fresh j jn.
Qed.

(* 1 + 2 L (a/b) (c/d) on binary numbers. *)
Definition stream_value (L a b c d : N) : N * N := (b * d + 2 * L * a * c, b * d)%num.

Lemma stream_valueE (R : realFieldType) (L a b c d : nat) : (0 < b)%N -> (0 < d)%N ->
  1 + (2 * L)%:R * (a%:R / b%:R) * (c%:R / d%:R) =
  quotient (stream_value (bin_of_nat L) (bin_of_nat a) (bin_of_nat b) (bin_of_nat c)
              (bin_of_nat d)) :> R.
Proof.
move=> b0 d0; rewrite /stream_value; lazy beta iota delta [fst snd].
rewrite nat_of_add_bin !nat_of_mul_bin !bin_of_natK (_ : nat_of_bin 2 = 2%N) //.
have b0' : b%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have d0' : d%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
rewrite natrD !natrM; move: (a%:R : R) (b%:R : R) (c%:R : R) (d%:R : R) (L%:R : R) b0' d0'.
by move=> x y z t l y0 t0; field; rewrite y0 t0.
Qed.

Section WrittenStream.
Variables (R : rcfType) (Omega : finType) (mass : Omega -> R).
Variables (x0 : Omega -> R) (f : nat -> Omega -> R) (factor : R).

(* The stream after i writes, each times a factor. *)
Fixpoint written_stream (i : nat) : Omega -> R :=
  if i is j.+1 then fun w => written_stream j w + factor * f j w else x0.

Lemma covZ (a : R) (x y : Omega -> R) : cov mass x (fun w => a * y w) = a * cov mass x y.
Proof.
rewrite /cov meanZ (_ : mean _ _ = a * mean mass (fun w => x w * y w)); first by ring.
by rewrite -meanZ; apply: eq_mean => w; ring.
Qed.

(* Claim: signal_propagation/residual_stream, for all writes of one variance that are uncorrelated
   with the stream before them. *)
Theorem written_stream_var k s2 : (forall i, (i < k)%N -> var mass (f i) = s2) ->
  (forall i, (i < k)%N -> cov mass (written_stream i) (f i) = 0) ->
  var mass (written_stream k) = var mass x0 + k%:R * factor ^+ 2 * s2.
Proof.
move=> unit fresh; suff step i : (i <= k)%N ->
    var mass (written_stream i) = var mass x0 + i%:R * factor ^+ 2 * s2 by apply: step.
elim: i => [|i IH] ik; first by rewrite !mul0r addr0.
have fresh0 : cov mass (written_stream i) (fun w => factor * f i w) = 0.
  by rewrite covZ fresh ?mulr0.
have -> : var mass (written_stream i.+1) =
    var mass (fun w => 1 * written_stream i w + factor * f i w).
  by rewrite /var /cov /=; congr (_ - _ * _); apply: eq_mean => w; rewrite mul1r.
by rewrite (var_sum 1 fresh0) varZ unit // IH ?(ltnW ik) // natS; ring.
Qed.
End WrittenStream.

(* Claim: signal_propagation/residual_stream. 2 L writes of variance c/d, times a factor whose
   square is a/b, on a stream of variance 1; with a/b = 1/(2 L) that is 1 + c/d. *)
Corollary residual_stream_checked (R : rcfType) (Omega : finType) (mass : Omega -> R)
    (x0 : Omega -> R) (f : nat -> Omega -> R) (factor : R) (L a b c d : nat) :
  (0 < b)%N -> (0 < d)%N -> var mass x0 = 1 -> factor ^+ 2 = a%:R / b%:R ->
  (forall i, (i < 2 * L)%N -> var mass (f i) = c%:R / d%:R) ->
  (forall i, (i < 2 * L)%N -> cov mass (written_stream x0 f factor i) (f i) = 0) ->
  let v := var mass (written_stream x0 f factor (2 * L)) in
  v = quotient (stream_value (bin_of_nat L) (bin_of_nat a) (bin_of_nat b) (bin_of_nat c)
                  (bin_of_nat d)) /\
  ((0 < L)%N -> factor ^+ 2 = (2 * L)%:R^-1 -> v = 1 + c%:R / d%:R).
Proof.
move=> b0 d0 start factorE unit fresh v.
have vE : v = 1 + (2 * L)%:R * factor ^+ 2 * (c%:R / d%:R).
  by rewrite /v (written_stream_var unit fresh) start.
split=> [|L0 scaled]; first by rewrite vE factorE stream_valueE.
by rewrite vE scaled divff ?mul1r // pnatr_eq0 muln_eq0 -lt0n L0.
Qed.

(* --- roots, to nine decimals --- *)

(* What is below the sixteenth root, (k n)^4 x/y, and its inverse for a negative sign: numerator and
   denominator. *)
Definition under_root (sign : Z) (k n x y : N) : N * N :=
  let p := (N.pow (k * n) 4 * x)%num in if sign is Zpos _ then (p, y) else (y, p).

(* The largest whole v with (v/10^9)^16 at most that, over 10^9. *)
Definition root_value (sign : Z) (k n x y : N) : N * N :=
  let u := under_root sign k n x y in
  (N.sqrt (N.sqrt (N.sqrt (N.sqrt (N.pow 1000000000 16 * u.1 / u.2)))), 1000000000)%num.

(* Rounded down to a fraction with this denominator it is v. *)
Definition rounds_to (R : realFieldType) (v : N * N) (x : R) : Prop :=
  quotient v <= x /\ x < quotient v + (nat_of_bin v.2)%:R^-1.

Lemma leq_sqrt_bin (m : nat) (x : N) :
  (m <= nat_of_bin (N.sqrt x))%N = (m ^ 2 <= nat_of_bin x)%N.
Proof.
have [lo hi] := N.sqrt_spec' x; set r := N.sqrt x in lo hi *.
have lo' : (nat_of_bin r ^ 2 <= nat_of_bin x)%N by rewrite -mulnn -nat_of_mul_bin; lia.
have hi' : (nat_of_bin x < (nat_of_bin r).+1 ^ 2)%N.
  have <- : nat_of_bin (N.succ r) = (nat_of_bin r).+1 by lia.
  by rewrite -mulnn -nat_of_mul_bin; lia.
apply/idP/idP => [le|le]; first by apply: leq_trans lo'; rewrite leq_exp2r.
by rewrite -ltnS -(ltn_exp2r _ _ (isT : 0 < 2)%N); apply: leq_ltn_trans hi'.
Qed.

Lemma leq_root16 (m : nat) (x : N) :
  (m <= nat_of_bin (N.sqrt (N.sqrt (N.sqrt (N.sqrt x)))))%N = (m ^ 16 <= nat_of_bin x)%N.
Proof. by rewrite !leq_sqrt_bin -!expnM. Qed.

Lemma root16_bounds (R : realFieldType) (u p q : N) (alpha : R) :
  (0 < nat_of_bin u)%N -> (0 < nat_of_bin q)%N -> 0 < alpha ->
  alpha ^+ 16 = (nat_of_bin p)%:R / (nat_of_bin q)%:R ->
  let v := N.sqrt (N.sqrt (N.sqrt (N.sqrt (N.pow u 16 * p / q)))) in
  (nat_of_bin v)%:R / (nat_of_bin u)%:R <= alpha /\
  alpha < (nat_of_bin v)%:R / (nat_of_bin u)%:R + (nat_of_bin u)%:R^-1.
Proof.
move=> u0 q0 a0 aE v.
have q0' : 0 < (nat_of_bin q)%:R :> R by rewrite ltr0n.
have u0' : 0 < (nat_of_bin u)%:R :> R by rewrite ltr0n.
have vE (m : nat) : (m <= nat_of_bin v)%N = ((m%:R / (nat_of_bin u)%:R) ^+ 16 <= alpha ^+ 16).
  rewrite /v leq_root16 Collapse.nat_of_div_bin leq_divRL // nat_of_mul_bin pow_bin aE.
  have -> : nat_of_bin 16 = 16%N by [].
  rewrite expr_div_n ler_pdivlMr // mulrAC ler_pdivrMr ?exprn_gt0 //.
  by rewrite -!natrX -!natrM ler_nat [X in (_ <= X)%N]mulnC.
have nn (m : nat) : m%:R / (nat_of_bin u)%:R \is @Num.nneg R.
  by rewrite nnegrE divr_ge0 ?ler0n // ltW.
have na : alpha \is Num.nneg by rewrite nnegrE ltW.
split; first by rewrite -(ler_pXn2r (isT : (0 < 16)%N) (nn _) na) -vE.
rewrite -{2}[(nat_of_bin u)%:R^-1]mul1r -mulrDl -natS.
by rewrite -(ltr_pXn2r (isT : (0 < 16)%N) na (nn _)) ltNge -vE ltnn.
Qed.

Lemma billion_gt0 : (0 < nat_of_bin 1000000000)%N.
Proof.
have -> : (1000000000 = N.pow 10 9)%num by [].
by rewrite pow_bin expn_gt0.
Qed.

Lemma root_valueE (R : realFieldType) (sign : Z) (k n x y : nat) (alpha : R) :
  (0 < k)%N -> (0 < n)%N -> (0 < x)%N -> (0 < y)%N -> 0 < alpha ->
  let power := (k%:R * n%:R) ^+ 4 * (x%:R / y%:R) in
  alpha ^+ 16 = (if sign is Zpos _ then power else power^-1) ->
  rounds_to (root_value sign (bin_of_nat k) (bin_of_nat n) (bin_of_nat x) (bin_of_nat y)) alpha.
Proof.
move=> k0 n0 x0 y0 a0 power; rewrite /root_value.
set u := under_root _ _ _ _ _ => aE.
have [q0 {}aE] : (0 < nat_of_bin u.2)%N /\ alpha ^+ 16 = quotient u.
  have pE : power = ((k * n) ^ 4 * x)%:R / y%:R.
    by rewrite /power -[k%:R * n%:R]natrM -natrX mulrA -natrM.
  move: aE; rewrite /u /under_root; case: (sign) => [|s|s] ->; lazy beta iota zeta delta [fst snd];
    rewrite nat_of_mul_bin pow_bin nat_of_mul_bin !bin_of_natK pE; split=> //;
    rewrite ?invf_div //; by rewrite muln_gt0 expn_gt0 muln_gt0 k0 n0 x0.
exact (root16_bounds billion_gt0 q0 a0 aE).
Qed.

(* The only positive scales that make a sum one and are balanced, rounded. *)
Definition only_scales (R : realFieldType) (sum : R -> R -> R -> R) (v w : N * N) : Prop :=
  exists alpha beta : R, [/\ 0 < alpha /\ 0 < beta, sum alpha beta beta = 1 /\ balanced alpha beta,
    rounds_to v alpha /\ rounds_to w beta &
    forall a b, 0 < a -> 0 < b -> sum a b b = 1 /\ balanced a b -> a = alpha /\ b = beta].

(* Claim: signal_propagation/deepnorm_scales. In a stack of N layers, in a decoder of M layers, and
   in an encoder of N layers before that decoder, the two equations have one positive solution each,
   and these are its scales to nine decimals; x/y is M/27. *)
Theorem deepnorm_scales_checked (R : rcfType) (N M : nat) : (0 < N)%N -> (0 < M)%N ->
  let value sign k n x y := root_value sign k (bin_of_nat n) x y in
  [/\ only_scales (@update_sum R (2 * N))
        (value (Zpos xH) 2 N 1 1)%num (value (Zneg xH) 8 N 1 1)%num,
      only_scales (@update_sum R (3 * M))
        (value (Zpos xH) 3 M 1 1)%num (value (Zneg xH) 12 M 1 1)%num &
      forall x y : nat, (0 < y)%N -> (27 * x = M * y)%N ->
        exists alpha_d v_d w_d : R, decoder_scales M alpha_d v_d w_d /\
          only_scales (encoder_sum (2 * N) M alpha_d v_d w_d)
            (value (Zpos xH) 1 N (bin_of_nat x) (bin_of_nat y))%num
            (value (Zneg xH) 4 N (bin_of_nat x) (bin_of_nat y))%num].
Proof.
move=> N0 M0 value.
have NR : 0 < N%:R :> R by rewrite ltr0n.
have MR : 0 < M%:R :> R by rewrite ltr0n.
(* From the two powers of the scales to the scales. *)
have only sum (A B : R) v w : 0 < A -> 0 < B ->
    (forall a b, 0 < a -> 0 < b ->
       (sum a b b = 1 /\ balanced a b) <-> (a ^+ 4 = A /\ b ^+ 4 = B)) ->
    (forall a, 0 < a -> a ^+ 4 = A -> rounds_to v a) ->
    (forall b, 0 < b -> b ^+ 4 = B -> rounds_to w b) -> only_scales sum v w.
  move=> A0 B0 solved va wb; have [a0 aE] := fourth_rootK A0; have [b0 bE] := fourth_rootK B0.
  exists (fourth_root A), (fourth_root B); split=> //; first by apply/solved.
    by split; [apply: va | apply: wb].
  move=> a b a1 b1 /(solved _ _ a1 b1) [aA bB].
  by split; apply: (@eq_power R 4); rewrite ?ltW // ?aE ?bE.
have pow16 (a x : R) : a ^+ 4 = x -> a ^+ 16 = x ^+ 4 by move=> <-; rewrite -exprM.
split.
- apply: (only _ (2%:R * N%:R) (8%:R * N%:R)^-1); rewrite ?invr_gt0 ?mulr_gt0 ?ltr0n //.
  + by move=> a b; apply: deepnorm_alone.
  + move=> a a0 /pow16 aE; apply: (@root_valueE R (Zpos xH) 2 N 1 1) => //=.
    by rewrite aE divr1 mulr1.
  move=> b b0 /pow16 bE; apply: (@root_valueE R (Zneg xH) 8 N 1 1) => //=.
  by rewrite bE divr1 mulr1 exprVn.
- apply: (only _ (3%:R * M%:R) (12%:R * M%:R)^-1); rewrite ?invr_gt0 ?mulr_gt0 ?ltr0n //.
  + by move=> a b; apply: deepnorm_decoder.
  + move=> a a0 /pow16 aE; apply: (@root_valueE R (Zpos xH) 3 M 1 1) => //=.
    by rewrite aE divr1 mulr1.
  move=> b b0 /pow16 bE; apply: (@root_valueE R (Zneg xH) 12 M 1 1) => //=.
  by rewrite bE divr1 mulr1 exprVn.
move=> x y y0 xy; have x0 : (0 < x)%N by rewrite -(ltn_pmul2l (isT : (0 < 27)%N)) xy muln_gt0 M0.
have [a_d [v_d [w_d [_ [_ [dec _ _ _ _]]]]]] := deepnorm_encoder_exists R N0 M0.
exists a_d, v_d, w_d; split=> //; have [T0 T4] := encoder_terms N0 M0 dec.
set T := _ * (_ / _) in T0 T4.
have {}T4 : T ^+ 4 = N%:R ^+ 4 * (x%:R / y%:R).
  have yR : y%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
  have tR : 27%:R != 0 :> R by rewrite pnatr_eq0.
  rewrite T4 -mulrA; congr (_ * _); apply/eqP; rewrite eqr_div // -!natrM.
  by rewrite -xy mulnC.
apply: (only _ T (4%:R * T)^-1) => //; first by rewrite invr_gt0 mulr_gt0 ?ltr0n.
- by move=> a b a0 b0; rewrite encoder_sumE; apply: scales_of_terms.
- move=> a a0 /pow16 aE; apply: (@root_valueE R (Zpos xH) 1 N x y) => //=.
  by rewrite aE T4 mul1r.
move=> b b0 /pow16 bE; apply: (@root_valueE R (Zneg xH) 4 N x y) => //=.
by rewrite bE exprVn exprMn T4; congr _^-1; rewrite exprMn !mulrA.
Qed.

(* Eight layers: 2, and 64^(-1/4) = 0.353553390...; a decoder of 27 layers: 3. *)
Example deepnorm_scales_met (R : rcfType) :
  only_scales (@update_sum R (2 * 8)) (2000000000, 1000000000)%num (353553390, 1000000000)%num /\
  exists w, only_scales (@update_sum R (3 * 27)) (3000000000, 1000000000)%num w.
Proof.
have [alone decoder _] := deepnorm_scales_checked R (isT : (0 < 8)%N) (isT : (0 < 27)%N).
have values : [/\ root_value (Zpos xH) 2 8 1 1 = (2000000000, 1000000000)%num,
    root_value (Zneg xH) 8 8 1 1 = (353553390, 1000000000)%num &
    root_value (Zpos xH) 3 27 1 1 = (3000000000, 1000000000)%num] by vm_compute.
have [e1 e2 e3] := values; split; first by rewrite -e1 -e2.
by exists (root_value (Zneg xH) 12 27 1 1); rewrite -e3.
Qed.

(* --- the hypotheses can be met --- *)

(* Eight layers: alpha = 2 and beta = 64^(-1/4). *)
Example deepnorm_alone_met (R : rcfType) :
  update_sum (2 * 8) 2%:R (fourth_root 64%:R^-1) (fourth_root 64%:R^-1) = 1 :> R /\
  balanced 2%:R (fourth_root 64%:R^-1 : R).
Proof.
have [|b0 bE] := @fourth_rootK R 64%:R^-1; first by rewrite invr_gt0 ltr0n.
apply/(deepnorm_alone (isT : (0 < 8)%N) (ltr0Sn R 1) b0).
by split; [ring | rewrite bE -natrM].
Qed.

(* One layer: fourth powers of 2 and 1/8. *)
Example deepnorm_exists_met (R : rcfType) :
  exists alpha beta : R, [/\ update_sum 2 alpha beta beta = 1, balanced alpha beta,
    alpha ^+ 4 = 2%:R & beta ^+ 4 = 8%:R^-1].
Proof.
have [a [b [a0 b0 sum bal]]] := deepnorm_exists R (isT : (0 < 1)%N).
have [aE bE] := (deepnorm_alone (isT : (0 < 1)%N) a0 b0).1 (conj sum bal).
by exists a, b; split; rewrite // ?aE ?bE mulr1.
Qed.

(* A decoder of 27 layers: alpha = 3 and beta = 324^(-1/4). *)
Example deepnorm_decoder_met (R : rcfType) :
  update_sum (3 * 27) 3%:R (fourth_root 324%:R^-1) (fourth_root 324%:R^-1) = 1 :> R /\
  balanced 3%:R (fourth_root 324%:R^-1 : R).
Proof.
have [|b0 bE] := @fourth_rootK R 324%:R^-1; first by rewrite invr_gt0 ltr0n.
apply/(deepnorm_decoder (isT : (0 < 27)%N) (ltr0Sn R 2) b0).
by split; [ring | rewrite bE -natrM].
Qed.

(* An encoder of 3 layers before a decoder of 27: its alpha has alpha^16 = 81. *)
Example deepnorm_encoder_met (R : rcfType) :
  exists alpha beta : R, [/\ 0 < alpha, 0 < beta, balanced alpha beta,
    alpha ^+ 16 = 81%:R & 256%:R * beta ^+ 16 = 81%:R^-1].
Proof.
have [ad [vd [wd [a [b [dec a0 b0 sum bal]]]]]] :=
  deepnorm_encoder_exists R (isT : (0 < 3)%N) (isT : (0 < 27)%N).
have [aE bE] := (deepnorm_encoder (isT : (0 < 3)%N) (isT : (0 < 27)%N) dec a0 b0).1 (conj sum bal).
exists a, b; split=> //.
  apply: (mulfI (_ : 27%:R != 0 :> R)); first by rewrite pnatr_eq0.
  by rewrite aE; ring.
by rewrite bE; field.
Qed.

(* An encoder of 16 layers before a decoder of one: (16^4)^(1/16) is 2. *)
Example deepnorm_encoder_digits_met (R : rcfType) :
  exists alpha_d v_d w_d : R, decoder_scales 1 alpha_d v_d w_d /\
    encoder_sum (2 * 16) 1 alpha_d v_d w_d (81%:R / 100%:R * 2%:R) (87%:R / 100%:R / 2%:R)
      (87%:R / 100%:R / 2%:R) ^+ 4 = (2%:R * (87%:R / 81%:R) ^+ 2) ^+ 4 / 27%:R.
Proof.
have [ad [vd [wd [_ [_ [dec _ _ _ _]]]]]] :=
  deepnorm_encoder_exists R (isT : (0 < 16)%N) (isT : (0 < 1)%N).
exists ad, vd, wd; split=> //.
apply: (deepnorm_encoder_digits (isT : (0 < 16)%N) (isT : (0 < 1)%N) dec (ltr0Sn R 1)).
by ring.
Qed.

(* The gains of a decoder of 27 layers. *)
Example decoder_gains_sign_met (R : rcfType) :
  exists alpha_d v_d w_d : R, decoder_scales 27 alpha_d v_d w_d /\
    (v_d ^+ 2 + w_d ^+ 2) ^+ 2 = 81%:R^-1.
Proof.
have [ad [vd [wd [_ [_ [dec _ _ _ _]]]]]] :=
  deepnorm_encoder_exists R (isT : (0 < 16)%N) (isT : (0 < 27)%N).
exists ad, vd, wd; split=> //.
by rewrite (decoder_gains_sign (isT : (0 < 27)%N) dec).1 -natrM.
Qed.

(* L/2 goes as L^1. *)
Lemma half_depth (R : realFieldType) : power_law (fun L => 2%:R^-1 * L%:R : R) 1 1.
Proof. by apply: power_lawZ (power_law_depth R 1); rewrite invr_gt0 ltr0n. Qed.

(* It goes as no other power. *)
Example power_law_unique_met (R : realFieldType) p q :
  power_law (fun L => 2%:R^-1 * L%:R : R) p q -> p = q%:Z.
Proof.
by move=> law; have := power_law_unique law (half_depth R); rewrite mulr1 mul1r.
Qed.

(* L/2 stays above a positive number and has no bound; 2/L has one and does not. *)
Example power_law_bounds_met (R : archiFieldType) :
  let f L := 2%:R^-1 * L%:R : R in let g L := (f L)^-1 in
  [/\ bounded_below f, ~ bounded f, bounded g & ~ bounded_below g].
Proof.
move=> f g; have lawf := half_depth R; have lawg := power_lawV lawf.
split.
- exact/(power_law_bounded_below _ lawf).
- by move/(power_law_bounded _ lawf) => /(_ isT).
- exact/(power_law_bounded _ lawg).
- by move/(power_law_bounded_below _ lawg) => /(_ isT).
Qed.

(* With alpha = N/2 and beta = 2/N the sum has a bound and comes as near to zero as one likes; with
   N/2 for both it stays above a positive number and has no bound. *)
Example deepnorm_exponents_met (R : archiFieldType) :
  let f L := 2%:R^-1 * L%:R : R in let g L := (f L)^-1 in
  let sum alpha beta N : R := update_sum (2 * N) (alpha N) (beta N) (beta N) in
  [/\ bounded (sum f g), ~ bounded_below (sum f g), ~ bounded (sum f f) &
      bounded_below (sum f f)].
Proof.
move=> f g sum; have lawf := half_depth R; have lawg := power_lawV lawf.
have [above below _] := deepnorm_exponents (isT : (0 < 1)%N) lawf lawg.
have [above' below' _] := deepnorm_exponents (isT : (0 < 1)%N) lawf lawf.
by split; [apply/above | move/below | move/above' | apply/below'].
Qed.

(* Three fair signs: the start and two branches. *)
Section Signs.
Variable R : rcfType.

Let sign (b : bool) : R := if b then -1 else 1.
Definition fair (w : bool * bool * bool) : R := 8%:R^-1.
Definition sign_start (w : bool * bool * bool) : R := sign w.1.1.
Definition sign_branch (i : nat) (w : bool * bool * bool) : R :=
  if i is 0%N then sign w.1.2 else sign w.2.

Lemma mean_fair g : mean fair g = 8%:R^-1 *
  (g (true, true, true) + g (true, true, false) + g (true, false, true) + g (true, false, false) +
   g (false, true, true) + g (false, true, false) + g (false, false, true) +
   g (false, false, false)).
Proof.
transitivity (\sum_(a : bool) \sum_(b : bool) \sum_(c : bool) fair (a, b, c) * g (a, b, c)).
  by rewrite pair_bigA pair_bigA; apply: eq_bigr => -[[a b] c].
by rewrite !big_bool /fair /= !mulrDr !addrA.
Qed.

Lemma sign_write i a b : cov fair (fun w => a * sign_start w + b * sign_branch 0 w)
  (sign_branch i.+1) = 0 /\ cov fair sign_start (sign_branch i) = 0.
Proof.
split; first by rewrite /cov !mean_fair /sign_start /sign_branch /sign /=; field.
by case: i => [|i]; rewrite /cov !mean_fair /sign_start /sign_branch /sign /=; field.
Qed.

Lemma sign_var i : var fair sign_start = 1 /\ var fair (sign_branch i) = 1.
Proof.
split; first by rewrite /var /cov !mean_fair /sign_start /sign /=; field.
by case: i => [|i]; rewrite /var /cov !mean_fair /sign_branch /sign /=; field.
Qed.

Lemma sign_fresh omega i : (i < 2)%N ->
  cov fair (pre_ln sign_start sign_branch i) (sign_branch i) = 0 /\
  cov fair (post_ln fair sign_start sign_branch omega i) (sign_branch i) = 0.
Proof.
case: i => [|[|//]] _; first by split; apply: (sign_write 0 0 0).2.
split; first by have := (sign_write 0 1 1).1; rewrite /= /summed /cov !mean_fair !mul1r.
rewrite /= /normalised /summed; set c := _^-1.
transitivity (cov fair (fun w => c * omega 0%N * sign_start w + c * sign_branch 0 w)
                      (sign_branch 1)); last exact: (sign_write 0 _ _).1.
by rewrite /cov; congr (_ - _ * _); apply: eq_mean => w; rewrite mulrDr !mulrA.
Qed.

End Signs.

(* In a net of these two branches the second has share 1/3 in pre-LN and with ADMIN's omega, and 1/2
   in post-LN. *)
Example shares_met (R : rcfType) :
  let mass := fair R in let x0 := sign_start R in let f := sign_branch R in
  let omega i := Num.sqrt i.+1%:R : R in
  [/\ share mass f 1 (pre_ln x0 f 1) 1 = 3%:R^-1,
      share mass f 1 (post_ln mass x0 f (fun=> 1) 1) 1 = 2%:R^-1,
      share mass f (omega 1%N) (post_ln mass x0 f omega 1) 1 = 3%:R^-1 &
      share mass f (omega 1%N) (post_ln mass x0 f omega 1) 1 = share mass f 1 (pre_ln x0 f 1) 1].
Proof.
move=> mass x0 f omega.
have start : var mass x0 = 1 := (sign_var R 0).1.
have unit i : (i < 2)%N -> var mass (f i) = 1 by move=> _; have [] := sign_var R i.
have branch i : (i < 2)%N -> 0 < var mass (f i) by move=> ilt; rewrite unit // ltr01.
have fresh om i : (i < 2)%N -> cov mass (post_ln mass x0 f om i) (f i) = 0.
  by move=> ilt; have [] := sign_fresh om ilt.
have fresh' i : (i < 2)%N -> cov mass (pre_ln x0 f i) (f i) = 0.
  by move=> ilt; have [] := sign_fresh omega ilt.
have omegaE : omega 1%N ^+ 2 = 1 + \sum_(j < 1) var mass (f j).
  by rewrite sqr_sqrtr ?ler0n // big_ord1 unit // -(natrD _ 1 1).
split.
- exact: (pre_ln_share start unit (ltnSn 1) fresh').
- exact: (post_ln_share start unit (ltnSn 1) (fresh _)).
- exact: (admin_share start unit (ltnSn 1) (fresh _) omegaE).
- exact: (admin_shares start branch (ltnSn 1) fresh' (fresh _) omegaE).
Qed.

(* The same shares, from binary numbers. *)
Example branch_shares_checked_met (R : rcfType) :
  let mass := fair R in let x0 := sign_start R in let f := sign_branch R in
  let omega i := Num.sqrt i.+1%:R : R in
  [/\ share mass f 1 (pre_ln x0 f 1) 1 = 3%:R^-1,
      share mass f 1 (post_ln mass x0 f (fun=> 1) 1) 1 = 2%:R^-1 &
      share mass f (omega 1%N) (post_ln mass x0 f omega 1) 1 = 3%:R^-1].
Proof.
move=> mass x0 f omega.
have start : var mass x0 = 1 := (sign_var R 0).1.
have unit i : (i < 2)%N -> var mass (f i) = 1 by move=> _; have [] := sign_var R i.
have fresh i : (i < 2)%N -> [/\ cov mass (pre_ln x0 f i) (f i) = 0,
    cov mass (post_ln mass x0 f (fun=> 1) i) (f i) = 0 &
    cov mass (post_ln mass x0 f omega i) (f i) = 0].
  by move=> ilt; have [a b] := sign_fresh omega ilt; have [_ c] := sign_fresh (fun=> 1 : R) ilt.
have omegaE : omega (2.-1)%N ^+ 2 = var mass x0 + \sum_(j < 2.-1) var mass (f j).
  by rewrite sqr_sqrtr ?ler0n // big_ord1 unit // start -(natrD _ 1 1).
have [-> -> ->] := branch_shares_checked (isT : (0 < 2)%N) start unit fresh omegaE.
rewrite -[0%num]/(bin_of_nat 0) -[1%num]/(bin_of_nat 1) -!branch_share_valueE.
by split; field.
Qed.

(* Two writes of fair signs, times 1/2, on a fair sign: 1 + 2/4. *)
Example residual_stream_checked_met (R : rcfType) (x0 := sign_start R) (f := sign_branch R) :
  var (fair R) (written_stream x0 f 2%:R^-1 2) = 1 + 2%:R * (1%:R / 4%:R) * (1%:R / 1%:R) /\
  var (fair R) (written_stream x0 f 1 1) = 1 + 1%:R * 1 ^+ 2 * 1.
Proof.
have start : var (fair R) x0 = 1 := (sign_var R 0).1.
have unit i : var (fair R) (f i) = 1 by have [] := sign_var R i.
have fresh c i : (i < 2)%N -> cov (fair R) (written_stream x0 f c i) (f i) = 0.
  case: i => [|[|//]] _; first by have [_] := sign_write 0%N (0 : R) 0.
  have [<- _] := sign_write 0%N (1 : R) c; rewrite /cov; congr (_ - _ * _); apply: eq_mean => w;
    by rewrite /= mul1r.
split; last first.
  rewrite -[X in _ = X + _]start; apply: written_stream_var => i i1; first exact: unit.
  exact: (fresh 1 i (ltnW i1)).
have half : (2%:R^-1 : R) ^+ 2 = 1%:R / 4%:R by field.
have [-> _] := @residual_stream_checked R _ (fair R) x0 f 2%:R^-1 1 1 4 1 1 isT isT start half
  (fun i _ => etrans (unit i) (esym (divr1 1))) (fun i => @fresh _ i).
by rewrite -stream_valueE.
Qed.
