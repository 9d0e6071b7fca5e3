(* Signal propagation: what finite laws of weights, sums and products settle exactly.

   Claims of theory/signal_propagation: expected_depth, stochastic_depth_rescaled,
   stochastic_depth_unscaled, kaiming_variance, residual_stream, residual_gradient_at_least_one,
   product_vanishes (initialisation.py), post_ln_norm, pre_ln_norm (norms.py), uniform_growth
   (token_correlation.py), pre_ln_variance_exponential, pre_ln_variance_quadratic
   (layernorm_scaling.py).

   Weights have a law with finitely many outcomes, of which only second moments and symmetry are
   used. Signs times a scale, over which the claims average, are such a law (sign_law below); that
   Gaussian weights give the same means, since they have the same moments, remains informal. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring zify.

Import Order.TTheory GRing.Theory Num.Theory.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.

(* --- stochastic depth --- *)

Section StochasticDepth.

Variable R : realFieldType.

(* The mean over which of L layers are kept, independently, layer l with probability keep l. *)
Definition kept_mean L (keep : 'I_L -> R) (f : {ffun 'I_L -> bool} -> R) : R :=
  \sum_(kept : {ffun 'I_L -> bool})
    (\prod_l (if kept l then keep l else 1 - keep l)) * f kept.

(* Keep probabilities that fall linearly to p; layers are counted from 0 here. *)
Definition survival L (p : R) (l : 'I_L) : R := 1 - l.+1%:R / L%:R * (1 - p).

(* Linear residual branches of slope a at the layers kept: x goes to x + a x. *)
Definition kept_output L (a : R) (kept : {ffun 'I_L -> bool}) : R :=
  \prod_l (if kept l then 1 + a else 1).

Lemma kept_mean_prod L (keep : 'I_L -> R) (F : 'I_L -> bool -> R) :
  kept_mean keep (fun kept => \prod_l F l (kept l)) =
  \prod_l (keep l * F l true + (1 - keep l) * F l false).
Proof.
pose G (l : 'I_L) (b : bool) := (if b then keep l else 1 - keep l) * F l b.
transitivity (\sum_(kept : {ffun 'I_L -> bool}) \prod_l G l (kept l)).
  by apply: eq_bigr => kept _; rewrite big_split.
rewrite -(bigA_distr_bigA G).
by apply: eq_bigr => l _; rewrite big_bool.
Qed.

(* The mean number of layers kept is the sum of the probabilities. *)
Theorem kept_mean_count L (keep : 'I_L -> R) :
  kept_mean keep (fun kept => \sum_l (kept l)%:R) = \sum_l keep l.
Proof.
rewrite /kept_mean (eq_bigr _ (fun kept _ => mulr_sumr _ _ _ _)).
rewrite exchange_big /=; apply: eq_bigr => l _.
pose F (m : 'I_L) (b : bool) : R := if m == l then b%:R else 1.
rewrite -[RHS](_ : kept_mean keep (fun kept => \prod_m F m (kept m)) = _).
  apply: eq_bigr => kept _; congr (_ * _); rewrite (bigD1 l) //= /F eqxx big1 ?mulr1 //.
  by move=> m /negPf->.
rewrite kept_mean_prod (bigD1 l) //= /F eqxx mulr1 mulr0 addr0 big1 ?mulr1 // => m /negPf->.
ring.
Qed.

Lemma natS (m : nat) : m.+1%:R = m%:R + 1 :> R.
Proof. by rewrite -addn1 natrD. Qed.

Lemma triangular L : \sum_(l < L) l.+1%:R = L%:R * (L%:R + 1) / 2%:R :> R.
Proof.
elim: L => [|L IH]; first by rewrite big_ord0 mul0r mul0r.
by rewrite big_ord_recr /= IH !natS; move: L%:R => x; field.
Qed.

(* Claim: signal_propagation/expected_depth. The mean number of layers that stochastic depth keeps,
   L layers kept independently with probabilities 1 - l/L (1 - p), is L - (L + 1)(1 - p)/2. The
   claim's object itself. *)
Theorem expected_depth L (p : R) :
  (0 < L)%N ->
  kept_mean (survival p) (fun kept : {ffun 'I_L -> bool} => \sum_l (kept l)%:R) =
  L%:R - (L%:R + 1) * (1 - p) / 2%:R.
Proof.
move=> L0; rewrite kept_mean_count /survival.
rewrite sumrB -mulr_suml -mulr_suml triangular sumr_const card_ord.
have L0' : L%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
by move: L%:R L0' => x x0; field.
Qed.

(* Claim: signal_propagation/expected_depth. Its quoted case p = 1/2: (3 L - 1)/4 layers. *)
Theorem expected_depth_half L :
  (0 < L)%N ->
  kept_mean (survival 2%:R^-1) (fun kept : {ffun 'I_L -> bool} => \sum_l (kept l)%:R) =
  (3%:R * L%:R - 1) / 4%:R.
Proof. by move=> L0; rewrite expected_depth //; move: L%:R => x; field. Qed.

(* Claim: signal_propagation/stochastic_depth_rescaled. The net whose branch l is scaled by its keep
   probability has the mean output of the nets with layers dropped, for linear branches. *)
Theorem stochastic_depth_rescaled L (keep : 'I_L -> R) (a : R) :
  kept_mean keep (kept_output a) = \prod_l (1 + keep l * a).
Proof.
rewrite (kept_mean_prod keep (fun _ b => if b then 1 + a else 1)) /=.
by apply: eq_bigr => l _; ring.
Qed.

(* Claim: signal_propagation/stochastic_depth_unscaled. It fails: without rescaling the mean output
   is (1 + p a)^L. *)
Theorem stochastic_depth_unscaled L (p a : R) :
  kept_mean (fun _ : 'I_L => p) (kept_output a) = (1 + p * a) ^+ L.
Proof. by rewrite stochastic_depth_rescaled prodr_const card_ord. Qed.

(* That is below (1 + a)^L, what all L layers give, wherever branches of slope a > 0 are dropped at
   all: for p < 1. *)
Theorem stochastic_depth_unscaled_fails L (p a : R) :
  0 <= p < 1 -> 0 < a -> (0 < L)%N ->
  kept_mean (fun _ : 'I_L => p) (kept_output a) < (1 + a) ^+ L.
Proof.
move=> /andP[p0 p1] a0 L0; rewrite stochastic_depth_unscaled.
have nn1 : 1 + p * a \is Num.nneg by rewrite nnegrE addr_ge0 ?ler01 ?mulr_ge0 // ltW.
have nn2 : 1 + a \is Num.nneg by rewrite nnegrE addr_ge0 ?ler01 // ltW.
by rewrite (ltr_pXn2r L0 nn1 nn2) ltrD2l gtr_pMl.
Qed.

(* L - (L + 1)(1 - p)/2 at p = a/b on binary numbers: numerator and denominator. *)
Definition expected_depth_value (L a b : N) : N * N := ((L - 1) * b + (L + 1) * a, 2 * b)%num.

Lemma expected_depth_valueE (L a b : nat) :
  (0 < L)%N -> (0 < b)%N ->
  let v := expected_depth_value (bin_of_nat L) (bin_of_nat a) (bin_of_nat b) in
  L%:R - (L%:R + 1) * (1 - a%:R / b%:R) / 2%:R = (nat_of_bin v.1)%:R / (nat_of_bin v.2)%:R :> R.
Proof.
case: L => // L _ b0; lazy beta zeta iota delta [expected_depth_value fst snd].
have b0' : b%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have -> : nat_of_bin ((bin_of_nat L.+1 - 1) * bin_of_nat b +
                      (bin_of_nat L.+1 + 1) * bin_of_nat a)%num = (L * b + L.+2 * a)%N.
  rewrite !(nat_of_add_bin, nat_of_mul_bin) !bin_of_natK; congr (_ * _ + _ * _)%N.
    by have := bin_of_natK L.+1; lia.
  by have := bin_of_natK L.+1; lia.
have -> : nat_of_bin (2 * bin_of_nat b)%num = (2 * b)%N by rewrite nat_of_mul_bin bin_of_natK.
rewrite natrD !natrM !natS; move: L%:R a%:R b%:R b0' => x y z z0.
by field.
Qed.

(* With L p, the tempting formula, the theorem is false. *)
Lemma expected_depth_not_product :
  kept_mean (survival (2%:R^-1 : R)) (fun kept : {ffun 'I_2 -> bool} => \sum_l (kept l)%:R) !=
  2%:R * 2%:R^-1.
Proof.
rewrite expected_depth // -subr_eq0.
have -> : 2%:R - (2%:R + 1) * (1 - 2%:R^-1) / 2%:R - 2%:R * 2%:R^-1 = 4%:R^-1 :> R by field.
by rewrite invr_eq0 pnatr_eq0.
Qed.

End StochasticDepth.

(* --- weights at random --- *)

Section Weights.

Variables (R : realFieldType) (n : nat) (Outcome : finType).
Variables (mass : Outcome -> R) (weight : Outcome -> 'M[R]_n).

(* The mean over one draw. Means over several layers are nested, so draws are independent. *)
Definition mean (f : Outcome -> R) : R := \sum_w mass w * f w.

(* Masses of sum one; entries of a column uncorrelated, of mean square g/n; the law of -W is that of
   W. *)
Record weight_law (g : R) : Prop := WeightLaw {
  mass_ge0 : forall w, 0 <= mass w;
  mass_sum : \sum_w mass w = 1;
  second_moments : forall i j k,
    mean (fun w => weight w j i * weight w k i) = (j == k)%:R * (g / n%:R);
  symmetric : exists2 flip : Outcome -> Outcome, injective flip &
    forall w, mass (flip w) = mass w /\ weight (flip w) = - weight w
}.

(* Squared norm of a row, and ReLU of its entries. *)
Definition square (x : 'rV[R]_n) : R := \sum_i x 0 i ^+ 2.
Definition relu (x : 'rV[R]_n) : 'rV[R]_n := \row_i Num.max 0 (x 0 i).

Lemma eq_mean f h : f =1 h -> mean f = mean h.
Proof. by move=> fh; apply: eq_bigr => w _; rewrite fh. Qed.

Lemma meanD f h : mean (fun w => f w + h w) = mean f + mean h.
Proof. by rewrite -big_split; apply: eq_bigr => w _; rewrite mulrDr. Qed.

Lemma meanZ c f : mean (fun w => c * f w) = c * mean f.
Proof. by rewrite /mean mulr_sumr; apply: eq_bigr => w _; rewrite mulrCA. Qed.

Lemma mean_sum (I : finType) (f : I -> Outcome -> R) :
  mean (fun w => \sum_i f i w) = \sum_i mean (f i).
Proof.
rewrite exchange_big /=; apply: eq_bigr => w _; exact: mulr_sumr.
Qed.

Lemma square_ge0 x : 0 <= square x.
Proof. by apply: sumr_ge0 => i _; apply: sqr_ge0. Qed.

Lemma squareZ c x : square (c *: x) = c ^+ 2 * square x.
Proof. by rewrite /square mulr_sumr; apply: eq_bigr => i _; rewrite mxE exprMn. Qed.

Section Law.

Variable g : R.
Hypotheses (n0 : (0 < n)%N) (law : weight_law g).

Lemma mean_const c : mean (fun=> c) = c.
Proof. by rewrite /mean -mulr_suml (mass_sum law) mul1r. Qed.

Lemma mean_le f h : (forall w, f w <= h w) -> mean f <= mean h.
Proof. by move=> le_fh; apply: ler_sum => w _; rewrite ler_wpM2l ?(mass_ge0 law). Qed.

Lemma mean_flip (h : 'M[R]_n -> R) : mean (fun w => h (weight w)) = mean (fun w => h (- weight w)).
Proof.
have [flip flip_inj flipE] := symmetric law.
rewrite /mean (reindex_inj flip_inj) /=; apply: eq_bigr => w _.
by have [-> ->] := flipE w.
Qed.

(* One layer multiplies the mean squared norm by g. *)
Lemma mean_square x : mean (fun w => square (x *m weight w)) = g * square x.
Proof.
have nR : n%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
rewrite /square mean_sum mulr_sumr.
have -> : \sum_i g * x 0 i ^+ 2 = \sum_(i < n) (g / n%:R * \sum_k x 0 k ^+ 2).
  by rewrite sumr_const card_ord -mulr_sumr -[RHS]mulr_natr mulrAC divfK.
apply: eq_bigr => i _.
transitivity (\sum_j \sum_k x 0 j * x 0 k * mean (fun w => weight w j i * weight w k i)).
  transitivity (mean (fun w => \sum_j \sum_k (x 0 j * x 0 k * (weight w j i * weight w k i)))).
    apply: eq_mean => w; rewrite mxE expr2 mulr_suml; apply: eq_bigr => j _.
    by rewrite mulr_sumr; apply: eq_bigr => k _; rewrite mulrACA.
  rewrite mean_sum; apply: eq_bigr => j _; rewrite mean_sum; apply: eq_bigr => k _.
  exact: meanZ.
rewrite mulr_sumr; apply: eq_bigr => j _; rewrite (bigD1 j) //= big1 ?addr0 => [|k kj].
  by rewrite (second_moments law) eqxx mul1r mulrC expr2.
by rewrite (second_moments law) eq_sym (negPf kj) mul0r mulr0.
Qed.

(* Half of it passes a ReLU. *)
Lemma mean_relu x : mean (fun w => square (relu (x *m weight w))) = g / 2%:R * square x.
Proof.
have split (z : 'rV[R]_n) : square z = square (relu z) + square (relu (- z)).
  rewrite /square -big_split; apply: eq_bigr => i _; rewrite /= !mxE.
  case: (leP 0 (z 0 i)) => z0.
    by rewrite (max_idPl _) ?expr0n ?addr0 // oppr_le0.
  by rewrite (max_idPr _) ?expr0n ?add0r ?sqrrN // oppr_ge0 ltW.
have both := mean_square x.
rewrite (eq_mean (fun w => split (x *m weight w))) meanD in both.
have same : mean (fun w => square (relu (- (x *m weight w)))) =
            mean (fun w => square (relu (x *m weight w))).
  rewrite (mean_flip (fun A => square (relu (x *m A)))).
  by apply: eq_mean => w; rewrite mulmxN.
by rewrite same in both; rewrite mulrAC -both; field.
Qed.

(* A fresh write is uncorrelated with the stream: mean squares add. *)
Lemma mean_write y x : mean (fun w => square (y + x *m weight w)) = square y + g * square x.
Proof.
have square_add (z : 'rV[R]_n) (s : R) : square (y + s *: z) =
    square y + s ^+ 2 * square z + s * (2%:R * \sum_i y 0 i * z 0 i).
  rewrite /square !mulr_sumr -!big_split; apply: eq_bigr => i _ /=.
  by rewrite !mxE; move: (y 0 i) (z 0 i) => p q; ring.
have expand w s := square_add (x *m weight w) s.
have plus : mean (fun w => square (y + x *m weight w)) = square y + g * square x +
    mean (fun w => 2%:R * \sum_i y 0 i * (x *m weight w) 0 i).
  rewrite -mean_square -[square y]mean_const -!meanD; apply: eq_mean => w.
  by have := expand w 1; rewrite scale1r expr1n !mul1r.
have minus : mean (fun w => square (y + x *m weight w)) = square y + g * square x +
    - mean (fun w => 2%:R * \sum_i y 0 i * (x *m weight w) 0 i).
  rewrite (mean_flip (fun A => square (y + x *m A))) -mean_square -[square y]mean_const.
  rewrite -meanD -mulN1r -meanZ -meanD; apply: eq_mean => w.
  by have := expand w (-1); rewrite scaleN1r sqrrN expr1n mul1r mulmxN.
have := plus; rewrite {1}minus => /addrI/eqP; rewrite eq_sym -addr_eq0 -mulr2n mulrn_eq0 /=.
by move/eqP=> cross; rewrite plus cross addr0.
Qed.

(* A ReLU branch with two matrices writes g^2/2 of the squared norm it reads. *)
Lemma mean_branch y x :
  mean (fun a => mean (fun b => square (y + relu (x *m weight a) *m weight b))) =
  square y + g ^+ 2 / 2%:R * square x.
Proof.
rewrite (eq_mean (fun a => mean_write y (relu (x *m weight a)))).
by rewrite meanD mean_const meanZ mean_relu; congr (_ + _); field.
Qed.

(* --- Kaiming --- *)

(* The mean squared norm of what layer l.+1 gives before its ReLU, of the net with input x. *)
Fixpoint relu_square (l : nat) (x : 'rV[R]_n) : R :=
  if l is k.+1 then mean (fun w => relu_square k (relu (x *m weight w)))
  else mean (fun w => square (x *m weight w)).

(* The same with no activation. *)
Fixpoint linear_square (l : nat) (x : 'rV[R]_n) : R :=
  if l is k.+1 then mean (fun w => linear_square k (x *m weight w))
  else mean (fun w => square (x *m weight w)).

(* Claim: signal_propagation/kaiming_variance. With independent symmetric weights of variance g/n,
   the mean square before the ReLU of layer l + 1 is (g/2)^l times that of layer 1. The claim's
   object itself, for every input. *)
Theorem kaiming_variance l x : relu_square l x = (g / 2%:R) ^+ l * relu_square 0 x.
Proof.
have at0 y : relu_square 0 y = g * square y by exact: mean_square.
elim: l x => [|l IH] x; first by rewrite mul1r.
have -> : relu_square l.+1 x = mean (fun w => relu_square l (relu (x *m weight w))) by [].
transitivity (mean (fun w => (g / 2%:R) ^+ l * (g * square (relu (x *m weight w))))).
  by apply: eq_mean => w; rewrite IH at0.
by rewrite !meanZ mean_relu at0 exprS; move: (_ ^+ l) (square x) => p s; ring.
Qed.

(* Claim: signal_propagation/kaiming_variance. In linear nets the factor is g^l. *)
Theorem kaiming_variance_linear l x : linear_square l x = g ^+ l * linear_square 0 x.
Proof.
have at0 y : linear_square 0 y = g * square y by exact: mean_square.
elim: l x => [|l IH] x; first by rewrite mul1r.
have -> : linear_square l.+1 x = mean (fun w => linear_square l (x *m weight w)) by [].
transitivity (mean (fun w => g ^+ l * (g * square (x *m weight w)))).
  by apply: eq_mean => w; rewrite IH at0.
by rewrite !meanZ mean_square at0 exprS; move: (_ ^+ l) (square x) => p s; ring.
Qed.

End Law.

(* Kaiming's variance 2/n keeps the mean square at every depth. *)
Theorem kaiming_keeps l x : (0 < n)%N -> weight_law 2%:R -> relu_square l x = relu_square 0 x.
Proof.
by move=> n0 law; rewrite (kaiming_variance n0 law) divff ?expr1n ?mul1r // pnatr_eq0.
Qed.

(* --- layer normalisation --- *)

Section Normalised.

Hypotheses (n0 : (0 < n)%N) (law : weight_law 1).

(* Any normalisation whose rows have mean square 1, as those of LayerNorm and RMSNorm have. *)
Variable normed : 'rV[R]_n -> 'rV[R]_n.
Hypothesis normed_square : forall x, square (normed x) = n%:R.

(* Claim: signal_propagation/post_ln_norm. The sum that enters the last LayerNorm of a post-LN layer
   has mean squared norm 3 n/2, whatever came before: what comes before is normalised. *)
Theorem post_ln_norm x :
  mean (fun a => mean (fun b => square (normed x + relu (normed x *m weight a) *m weight b))) =
  3%:R / 2%:R * n%:R.
Proof. by rewrite (mean_branch n0 law) normed_square; move: n%:R => d; field. Qed.

Variable m : nat.

(* A post-LN net at initialisation: whatever attention writes, with weights of that law, and then a
   ReLU branch, a LayerNorm behind each. The sum that enters the last LayerNorm of a layer. *)
Variable attends : 'M[R]_n -> ('I_m -> 'rV[R]_n) -> 'I_m -> 'rV[R]_n.
Definition post_sum V W W' (X : 'I_m -> 'rV[R]_n) (i : 'I_m) : 'rV[R]_n :=
  let Y := normed (X i + attends V X i) in Y + relu (Y *m W) *m W'.

(* Its mean squared norm at token i in layer l + 1. *)
Fixpoint post_ln_square (l : nat) (X : 'I_m -> 'rV[R]_n) (i : 'I_m) : R :=
  mean (fun v => mean (fun a => mean (fun b =>
    let S := post_sum (weight v) (weight a) (weight b) X in
    if l is k.+1 then post_ln_square k (fun j => normed (S j)) i else square (S i)))).

(* Claim: signal_propagation/post_ln_norm. In whole nets the mean over all weights of a layer and of
   those before it is 3 n/2, in every layer. *)
Theorem post_ln_layers l X i : post_ln_square l X i = 3%:R / 2%:R * n%:R.
Proof.
elim: l X => [|l IH] X /=.
  rewrite -[RHS](mean_const law); apply: eq_mean => v; exact: post_ln_norm.
rewrite -[RHS](mean_const law); apply: eq_mean => v.
rewrite -[RHS](mean_const law); apply: eq_mean => a.
by rewrite -[RHS](mean_const law); apply: eq_mean => b; apply: IH.
Qed.

Hypothesis m0 : (0 < m)%N.

(* A pre-LN layer at initialisation: attention is uniform, and then a ReLU branch. *)
Definition average (X : 'I_m -> 'rV[R]_n) : 'rV[R]_n := m%:R^-1 *: \sum_j X j.
Definition attended V (X : 'I_m -> 'rV[R]_n) (i : 'I_m) : 'rV[R]_n :=
  X i + average (fun j => normed (X j)) *m V.
Definition fed W W' (X : 'I_m -> 'rV[R]_n) (i : 'I_m) : 'rV[R]_n :=
  X i + relu (normed (X i) *m W) *m W'.

(* The mean squared norm of token i after l layers. *)
Fixpoint pre_ln_square (l : nat) (X : 'I_m -> 'rV[R]_n) (i : 'I_m) : R :=
  if l is k.+1 then
    mean (fun v => mean (fun a => mean (fun b =>
      pre_ln_square k (fed (weight a) (weight b) (attended (weight v) X)) i)))
  else square (X i).

(* Uniform attention writes the mean of m rows of squared norm s: between 0 and s. *)
Lemma average_le (Y : 'I_m -> 'rV[R]_n) s : (forall j, square (Y j) = s) -> square (average Y) <= s.
Proof.
move=> Ys; have mR : 0 < m%:R :> R by rewrite ltr0n.
have mR0 := lt0r_neq0 mR.
rewrite -(ler_pM2l mR).
have -> : m%:R * s = \sum_j square (Y j).
  by rewrite (eq_bigr (fun=> s)) // sumr_const card_ord mulr_natl.
rewrite /square exchange_big mulr_sumr; apply: ler_sum => i _ /=.
set u := average Y 0 i; have sum_u : \sum_j Y j 0 i = m%:R * u.
  by rewrite /u /average mxE summxE mulVKf.
rewrite -subr_ge0.
have -> : \sum_j Y j 0 i ^+ 2 - m%:R * u ^+ 2 = \sum_j (Y j 0 i - u) ^+ 2.
  transitivity (\sum_j (Y j 0 i ^+ 2 - u * (2%:R * Y j 0 i) + u ^+ 2)); last first.
    by apply: eq_bigr => j _; ring.
  rewrite big_split sumrB -mulr_sumr -mulr_sumr sum_u sumr_const card_ord /= -mulr_natl.
  by move: (\sum__ _) => t; ring.
by apply: sumr_ge0 => j _; apply: sqr_ge0.
Qed.

(* Claim: signal_propagation/pre_ln_norm. A pre-LN stream grows linearly: after l layers a token
   that starts with squared norm s has mean squared norm between s + l n/2 and s + 3 l n/2; with s
   = n these are (1 + l/2) n and (1 + 3 l/2) n. The claim's object, with any normalisation to mean
   square 1 in the place of LayerNorm, which is undefined on constant rows. *)
Theorem pre_ln_norm l X i :
  square (X i) + l%:R / 2%:R * n%:R <= pre_ln_square l X i /\
  pre_ln_square l X i <= square (X i) + 3%:R * l%:R / 2%:R * n%:R.
Proof.
have branch Y c : mean (fun a => mean (fun b =>
    square (fed (weight a) (weight b) Y i) + c)) = square (Y i) + (n%:R / 2%:R + c).
  transitivity (mean (fun a => mean (fun b => square (fed (weight a) (weight b) Y i)) + c)).
    by apply: eq_mean => a; rewrite meanD (mean_const law).
  rewrite meanD (mean_const law) (mean_branch n0 law) normed_square expr1n addrA; congr (_ + _ + _).
  by rewrite mulrC mul1r.
have attention c : mean (fun v => square (attended (weight v) X i) + c) =
    square (X i) + (square (average (fun j => normed (X j))) + c).
  by rewrite meanD (mean_const law) (mean_write n0 law) mul1r addrA.
elim: l X attention => [|l IH] X attention; first by rewrite mulr0 !mul0r addr0 lexx.
have -> : pre_ln_square l.+1 X i = mean (fun v => mean (fun a => mean (fun b =>
  pre_ln_square l (fed (weight a) (weight b) (attended (weight v) X)) i))) by [].
have avg0 := square_ge0 (average (fun j => normed (X j))).
have avg1 : square (average (fun j => normed (X j))) <= n%:R by apply: average_le.
have nS : l.+1%:R = l%:R + 1 :> R by rewrite -addn1 natrD.
split.
  apply: (@le_trans _ _ (mean (fun v => mean (fun a => mean (fun b =>
      square (fed (weight a) (weight b) (attended (weight v) X) i) + l%:R / 2%:R * n%:R))))).
    rewrite (eq_mean (fun v => branch (attended (weight v) X) _)) attention.
    rewrite lerD2l nS -[leLHS]add0r lerD //.
    by rewrite le_eqVlt; apply/orP; left; apply/eqP; move: n%:R l%:R => d x; field.
  apply: (mean_le law) => v; apply: (mean_le law) => a; apply: (mean_le law) => b.
  by apply: (IH _ _).1 => c; rewrite meanD (mean_const law) (mean_write n0 law) mul1r addrA.
apply: (@le_trans _ _ (mean (fun v => mean (fun a => mean (fun b =>
    square (fed (weight a) (weight b) (attended (weight v) X) i) + 3%:R * l%:R / 2%:R * n%:R))))).
  apply: (mean_le law) => v; apply: (mean_le law) => a; apply: (mean_le law) => b.
  by apply: (IH _ _).2 => c; rewrite meanD (mean_const law) (mean_write n0 law) mul1r addrA.
rewrite (eq_mean (fun v => branch (attended (weight v) X) _)) attention.
rewrite lerD2l nS; apply: le_trans (lerD avg1 (lexx _)) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; move: n%:R l%:R => d x; field.
Qed.

End Normalised.

End Weights.

(* --- signs times a scale are such a law --- *)

Section Signs.

Variables (R : realFieldType) (n : nat) (scale : R).

Definition signs := {ffun 'I_n * 'I_n -> bool}.
Definition sign_mass (s : signs) : R := #|{: signs}|%:R^-1.
Definition sign_weight (s : signs) : 'M[R]_n := \matrix_(i, j) ((-1) ^+ s (i, j) * scale).

(* Over all signs, as the claims average: weights of mean square scale^2 = g/n. *)
Theorem sign_law : (0 < n)%N -> weight_law sign_mass sign_weight (n%:R * scale ^+ 2).
Proof.
move=> n0; have count0 : #|{: signs}|%:R != 0 :> R.
  by rewrite pnatr_eq0 -lt0n; apply/card_gt0P; exists [ffun=> false].
have total : \sum_(s : signs) sign_mass s = 1.
  by rewrite /sign_mass sumr_const -[LHS]mulr_natl divff.
split=> // [s | i j k |]; first by rewrite invr_ge0 ler0n.
- have nR : n%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
  rewrite mulrAC divff // mul1r; case: eqP => [<- | /eqP jk].
    rewrite mul1r -[RHS]mul1r -total mulr_suml; apply: eq_bigr => s _.
    by rewrite !mxE mulrACA -expr2 sqrr_sign mul1r -expr2.
  rewrite mul0r.
  pose flip (s : signs) : signs := [ffun p => s p (+) (p == (j, i))].
  have flipK : involutive flip by move=> s; apply/ffunP=> p; rewrite !ffunE -addbA addbb addbF.
  set T := mean _ _; have opp : T = - T.
    rewrite {1}/T /mean (reindex_inj (inv_inj flipK)) /= -sumrN; apply: eq_bigr => s _.
    rewrite !mxE !ffunE eqxx addbT -[(k, i) == _]/((k == j) && (i == i)) eq_sym (negPf jk) addbF.
    by rewrite signrN !mulNr mulrN.
  by apply/eqP; move/eqP: opp; rewrite -addr_eq0 -mulr2n mulrn_eq0.
exists (fun s : signs => [ffun p => ~~ s p]) => [s t /ffunP st | s].
  by apply/ffunP => p; have := st p; rewrite !ffunE => /negb_inj.
split=> //; apply/matrixP=> i j; by rewrite !mxE ffunE signrN mulNr.
Qed.

End Signs.

(* Example: the hypotheses on weights are met for g = 1 at width 4 by signs over 2, and then the
   mean square halves with every ReLU layer. *)
Example kaiming_met (l : nat) (x : 'rV[rat]_4) :
  relu_square (@sign_mass (rat : realFieldType) 4) (sign_weight (2%:R^-1 : rat)) l x =
  (1 / 2%:R) ^+ l *
  relu_square (@sign_mass (rat : realFieldType) 4) (sign_weight (2%:R^-1 : rat)) 0 x.
Proof.
have law := sign_law (2%:R^-1 : (rat : realFieldType)) (isT : (0 < 4)%N).
by rewrite (kaiming_variance _ law) //; congr (_ ^+ _ * _); apply/eqP.
Qed.

(* (g/2)^l on binary numbers, for g = a/b. *)
Definition kaiming_value (l a b : N) : N * N := (N.pow a l, N.pow (2 * b) l).

Lemma pow_bin (a b : N) : nat_of_bin (N.pow a b) = (nat_of_bin a ^ nat_of_bin b)%N.
Proof.
elim/N.peano_ind: b => [|b IH]; first by rewrite N.pow_0_r.
by rewrite N.pow_succ_r' -N.add_1_l nat_of_mul_bin nat_of_add_bin IH expnS.
Qed.

Lemma kaiming_valueE (R : realFieldType) (l a b : nat) :
  let v := kaiming_value (bin_of_nat l) (bin_of_nat a) (bin_of_nat b) in
  (a%:R / b%:R / 2%:R) ^+ l = (nat_of_bin v.1)%:R / (nat_of_bin v.2)%:R :> R.
Proof.
lazy beta zeta iota delta [kaiming_value fst snd].
rewrite !pow_bin nat_of_mul_bin !bin_of_natK !natrX natrM -expr_div_n invfM mulrA.
by congr (_ ^+ _); rewrite -mulrA [_ * _^-1]mulrC mulrA.
Qed.

(* --- the residual stream --- *)

Section Stream.

Variable R : realFieldType.

(* E x^2 after k writes c f(x) with a random sign, f any branch, another one for each write. *)
Fixpoint walk (f : nat -> R -> R) (c : R) (k : nat) (x : R) : R :=
  if k is j.+1 then (walk f c j (x + c * f j x) + walk f c j (x - c * f j x)) / 2%:R else x ^+ 2.

(* Claim: signal_propagation/residual_stream. Writes of variance s2 whose sign is random given the
   stream add up: k of them, times c, add k c^2 s2. *)
Theorem residual_stream f c s2 k x :
  (forall j y, f j y ^+ 2 = s2) -> walk f c k x = x ^+ 2 + k%:R * c ^+ 2 * s2.
Proof.
move=> fs; elim: k x => [|k IH] x; first by rewrite !mul0r addr0.
by rewrite /= !IH natS -(fs k x); move: (f k x) k%:R => y m; field.
Qed.

(* 2 L writes divided by sqrt(2 L) on a stream of variance 1: 1 + s^2 at every depth. *)
Theorem residual_stream_scaled f c s2 L :
  (0 < L)%N -> c ^+ 2 = (2 * L)%:R^-1 -> (forall j y, f j y ^+ 2 = s2) ->
  walk f c (2 * L) 1 = 1 + s2.
Proof.
move=> L0 c2 fs; rewrite (residual_stream _ _ _ fs) c2 expr1n divff ?mul1r //.
by rewrite pnatr_eq0 muln_eq0 -lt0n L0.
Qed.

(* --- gradients --- *)

(* The net x <- x + f(x), the first branch first, for polynomial branches, and the product of its
   layers' derivatives along the way from x. *)
Fixpoint residual_net (branches : seq {poly R}) : {poly R} :=
  if branches is f :: later then residual_net later \Po ('X + f) else 'X.

Fixpoint residual_slope (branches : seq {poly R}) (x : R) : R :=
  if branches is f :: later then residual_slope later (x + f.[x]) * (1 + f^`().[x]) else 1.

(* The derivative of a residual net is the product of 1 + f' over its layers. *)
Theorem residual_gradient branches x :
  (residual_net branches)^`().[x] = residual_slope branches x.
Proof.
elim: branches x => [|f later IH] x /=; first by rewrite derivX hornerC.
by rewrite deriv_comp hornerM horner_comp !(hornerD, derivD) derivX hornerX hornerC IH.
Qed.

(* Claim: signal_propagation/residual_gradient_at_least_one. What is true: branches with
   |f'| <= eps <= 1 keep the derivative between (1 - eps)^n and (1 + eps)^n. The bound is asked for
   everywhere, so these branches, which are polynomials, are affine. *)
Theorem residual_gradient_between (branches : seq {poly R}) (eps x : R) :
  eps <= 1 -> (forall f, f \in branches -> forall y, `|f^`().[y]| <= eps) ->
  (1 - eps) ^+ size branches <= (residual_net branches)^`().[x] <= (1 + eps) ^+ size branches.
Proof.
move=> eps1; rewrite residual_gradient; elim: branches x => [|f later IH] x small /=.
  by rewrite !expr0 lexx.
have [low high] := andP (IH (x + f.[x]) (fun h hl => small h (@mem_behead _ (f :: later) h hl))).
have := small f (mem_head _ _) x; rewrite ler_norml => /andP[f_low f_high].
have p0 : 0 <= (1 - eps) ^+ size later by rewrite exprn_ge0 // subr_ge0.
have l1 : 1 - eps <= 1 + f^`().[x] by rewrite lerD2l.
have l0 : 0 <= 1 - eps by rewrite subr_ge0.
rewrite !exprSr; apply/andP; split; first exact: ler_pM.
apply: ler_pM => //; first exact: le_trans low.
  exact: le_trans l1.
by rewrite lerD2l.
Qed.

(* Linear branches of slope a: (1 + a)^n, what the claim measures. *)
Theorem residual_gradient_linear n a x :
  (residual_net (nseq n (a *: 'X)))^`().[x] = (1 + a) ^+ n.
Proof.
rewrite residual_gradient; elim: n x => [|n IH] x //=.
by rewrite IH derivZ derivX hornerZ hornerC mulr1 exprSr.
Qed.

(* The sentence fails: a branch -x/100 makes the derivative less than 1 at every depth n > 0. *)
Theorem residual_gradient_at_least_one_fails n x :
  (0 < n)%N -> (residual_net (nseq n (- 100%:R^-1 *: 'X)))^`().[x] < 1.
Proof.
have h0 : 0 < 100%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have h1 : 100%:R^-1 <= 1 :> R by rewrite invf_le1 ?ltr0n // ler1n.
move=> n0; rewrite residual_gradient_linear exprn_ilt1 -?lt0n ?subr_ge0 //.
by rewrite ltrBlDr ltrDl.
Qed.

Lemma bernoulli_below (h : R) n : 0 <= h <= 1 -> 1 - h *+ n <= (1 - h) ^+ n.
Proof.
move=> /andP[h0 h1]; elim: n => [|n IH]; first by rewrite mulr0n subr0.
have h1' : 0 <= 1 - h by rewrite subr_ge0.
rewrite exprSr (le_trans _ (ler_wpM2r h1' IH)) //.
have a0 : 0 <= h *+ n by rewrite mulrn_wge0.
rewrite mulrSr; move: (h *+ n) a0 => a a0.
have -> : (1 - a) * (1 - h) = 1 - (a + h) + a * h by ring.
by rewrite lerDl mulr_ge0.
Qed.

(* Branches of slope c/L, with c < 1: the derivative of L of them lies between 1 + c and 1/(1 - c)
   at every depth. It tends to e^c, which is not stated here. *)
Theorem scaled_branches_bounded L (c : R) :
  (0 < L)%N -> 0 <= c < 1 -> 1 + c <= (1 + c / L%:R) ^+ L <= (1 - c)^-1.
Proof.
move=> L0 /andP[c0 c1]; have LR : 0 < L%:R :> R by rewrite ltr0n.
have LR0 := lt0r_neq0 LR.
set h := c / L%:R; have h0 : 0 <= h by rewrite divr_ge0 // ltW.
have hL : h *+ L = c by rewrite -mulr_natr divfK.
have h1 : h <= 1.
  by rewrite ler_pdivrMr // mul1r (le_trans (ltW c1)) // ler1n.
have d0 : 0 < 1 - c by rewrite subr_gt0.
apply/andP; split.
  rewrite -{1}hL; elim: (L) => [|n IH]; first by rewrite mulr0n addr0.
  rewrite exprSr (le_trans _ (ler_wpM2r _ IH)) ?addr_ge0 ?ler01 //.
  have a0 : 0 <= h *+ n by rewrite mulrn_wge0.
  rewrite mulrSr; move: (h *+ n) a0 => a a0.
  have -> : (1 + a) * (1 + h) = 1 + (a + h) + h * a by ring.
  by rewrite lerDl mulr_ge0.
rewrite -[leRHS]mul1r ler_pdivlMr //.
apply: (@le_trans _ _ ((1 + h) ^+ L * (1 - h) ^+ L)).
  rewrite ler_wpM2l ?exprn_ge0 ?addr_ge0 ?ler01 // -{1}hL bernoulli_below //.
  by rewrite h0.
have p0 : 0 <= (1 + h) * (1 - h) by rewrite mulr_ge0 ?subr_ge0 // addr_ge0 ?ler01.
have p1 : (1 + h) * (1 - h) <= 1.
  have -> : (1 + h) * (1 - h) = 1 - h ^+ 2 by ring.
  by rewrite lerBlDr lerDl sqr_ge0.
by rewrite -exprMn exprn_ile1.
Qed.

(* Claim: signal_propagation/product_vanishes. It fails: factors 1 - 1/(i + 1)^2, all in (0, 1),
   have product (n + 2)/(2 (n + 1)) > 1/2. *)
Theorem product_vanishes_fails n :
  \prod_(i < n) (1 - (i.+2%:R ^+ 2)^-1) = n.+2%:R / (2%:R * n.+1%:R) :> R /\
  2%:R^-1 < n.+2%:R / (2%:R * n.+1%:R) :> R.
Proof.
have S0 m : m.+1%:R != 0 :> R by rewrite pnatr_eq0.
split.
  elim: n => [|n IH]; first by rewrite big_ord0 mulr1 divff.
  rewrite big_ord_recr /= IH; have := (S0 n, S0 n.+1).
  by rewrite !natS; move: n%:R => x [x1 x2]; field; rewrite x1 x2.
rewrite invfM mulrCA -ltr_pdivrMl ?invr_gt0 ?ltr0n // invrK divff //.
by rewrite ltr_pdivlMr ?ltr0n // mul1r ltr_nat.
Qed.

End Stream.

(* --- the recursion of pre-LN variance --- *)

Section Curse.

Variable R : realFieldType.

(* sigma_1^2 prod_(k < l) (1 + 1/sigma_k) without its first factor, layers counted from 0. *)
Definition grown (sigma : nat -> R) (l : nat) : R := \prod_(k < l) (1 + (sigma k)^-1).

(* Every sequence with c <= sigma_l^2 / (sigma_0^2 prod) <= C, where c = s^2. *)
Definition theta_sequence (sigma : nat -> R) (s C : R) : Prop :=
  forall l, 0 < sigma l /\
    s ^+ 2 * sigma 0%N ^+ 2 * grown sigma l <= sigma l ^+ 2 <= C * sigma 0%N ^+ 2 * grown sigma l.

Lemma grown_le (sigma : nat -> R) (s C : R) l :
  0 < s -> theta_sequence sigma s C ->
  grown sigma l <= (1 + (s * sigma 0%N)^-1 / 2%:R *+ l) ^+ 2.
Proof.
move=> s0 seq; have g0 m : 0 <= grown sigma m.
  by apply: prodr_ge0 => k _; rewrite addr_ge0 ?ler01 ?invr_ge0 ?ltW // (seq k).1.
have b0 : 0 < (s * sigma 0%N)^-1 by rewrite invr_gt0 mulr_gt0 ?(seq 0%N).1.
have b2E : (s * sigma 0%N) ^+ 2 = ((s * sigma 0%N)^-1 ^+ 2)^-1 by rewrite exprVn invrK.
set b := (s * _)^-1 in b0 b2E *.
elim: l => [|l IH]; first by rewrite mulr0n addr0 expr1n /grown big_ord0.
have [sl /andP[low _]] := seq l.
have -> : grown sigma l.+1 = grown sigma l + grown sigma l / sigma l.
  by rewrite /grown big_ord_recr /= mulrDr mulr1.
rewrite mulrSr addrA; set q := 1 + b / 2%:R *+ l in IH *.
have q0 : 0 <= q by rewrite addr_ge0 ?ler01 ?mulrn_wge0 ?divr_ge0 ?ler0n ?ltW.
have step : grown sigma l / sigma l <= b * q.
  have nn1 : grown sigma l / sigma l \is Num.nneg by rewrite nnegrE divr_ge0 // ltW.
  have nn2 : b * q \is Num.nneg by rewrite nnegrE mulr_ge0 // ltW.
  rewrite -(ler_pXn2r (isT : (0 < 2)%N) nn1 nn2).
  rewrite expr_div_n ler_pdivrMr ?exprn_gt0 //.
  apply: (@le_trans _ _ (b ^+ 2 * q ^+ 2 * (s ^+ 2 * sigma 0%N ^+ 2 * grown sigma l))); last first.
    by rewrite exprMn ler_wpM2l // -exprMn sqr_ge0.
  have -> : s ^+ 2 * sigma 0%N ^+ 2 = (b ^+ 2)^-1 by rewrite -b2E exprMn.
  have -> : b ^+ 2 * q ^+ 2 * ((b ^+ 2)^-1 * grown sigma l) = q ^+ 2 * grown sigma l.
    by rewrite mulrACA divff ?mul1r // expf_neq0 ?lt0r_neq0.
  by rewrite expr2 ler_wpM2r.
apply: le_trans (lerD IH step) _.
have -> : (q + b / 2%:R) ^+ 2 = q ^+ 2 + b * q + (b / 2%:R) ^+ 2 by field.
by rewrite lerDl sqr_ge0.
Qed.

(* Claim: signal_propagation/pre_ln_variance_quadratic. Its upper end: the variance of the
   recursion is at most C/c (sqrt(c) sigma_1 + (l - 1)/2)^2, here with s = sqrt(c) and layers
   counted from 0. The lower end has a logarithm and is not stated. That the recursion describes a
   net is the source's statement. *)
Theorem pre_ln_variance_quadratic (sigma : nat -> R) (s C : R) l :
  0 < s -> 0 <= C -> theta_sequence sigma s C ->
  sigma l ^+ 2 <= C / s ^+ 2 * (s * sigma 0%N + l%:R / 2%:R) ^+ 2.
Proof.
move=> s0 C0 seq; have [_ /andP[_ high]] := seq l.
apply: le_trans high _; have [first _] := seq 0%N.
have C1 : 0 <= C * sigma 0%N ^+ 2 by rewrite mulr_ge0 ?sqr_ge0.
apply: le_trans (ler_wpM2l C1 (grown_le l s0 seq)) _.
have s0' := lt0r_neq0 s0; have f0' := lt0r_neq0 first.
rewrite -mulr_natr le_eqVlt; apply/orP; left; apply/eqP.
by move: (sigma 0%N) l%:R f0' => f m f0'; field; rewrite s0' f0'.
Qed.

End Curse.

(* Claim: signal_propagation/pre_ln_variance_exponential. It fails: no rate q > 1 bounds such a
   recursion from below at every depth, whatever constants Theta stands for. *)
Theorem pre_ln_variance_exponential_fails (R : archiFieldType) (sigma : nat -> R) (s C q : R) :
  0 < s -> 0 <= C -> theta_sequence sigma s C -> 1 < q -> exists l, sigma l ^+ 2 < q ^+ l.
Proof.
move=> s0 C0 seq q1; pose h := q - 1; have h0 : 0 < h by rewrite subr_gt0.
have [first _] := seq 0%N.
(* At l = 3 m, q^l >= (m h)^3, and the square is at most (C/c) (a + 3/2)^2 m^2 for m >= 1. *)
pose a := s * sigma 0%N; pose K := C / s ^+ 2 * (a + 3%:R / 2%:R) ^+ 2.
have a0 : 0 <= a by rewrite ltW // mulr_gt0.
have K0 : 0 <= K by rewrite mulr_ge0 ?divr_ge0 ?sqr_ge0.
have Kh0 : 0 <= K / h ^+ 3 by rewrite divr_ge0 // exprn_ge0 // ltW.
pose m := (Num.bound (K / h ^+ 3)).+1; exists (m * 3)%N.
have m1 : 1 <= m%:R :> R by rewrite ler1n.
have m0 : 0 < m%:R :> R by rewrite ltr0n.
apply: le_lt_trans (pre_ln_variance_quadratic (m * 3) s0 C0 seq) _; rewrite -/a.
apply: (@le_lt_trans _ _ (K * m%:R ^+ 2)).
  have x0 : 0 <= a + (m * 3)%:R / 2%:R by rewrite addr_ge0 // divr_ge0 ?ler0n.
  have y0 : 0 <= (a + 3%:R / 2%:R) * m%:R.
    by rewrite mulr_ge0 ?ler0n // addr_ge0 // divr_ge0 ?ler0n.
  rewrite /K -[leRHS]mulrA -exprMn ler_wpM2l ?divr_ge0 ?sqr_ge0 //.
  have xy : a + (m * 3)%:R / 2%:R <= (a + 3%:R / 2%:R) * m%:R.
    by rewrite [leRHS]mulrDl lerD // ?ler_peMr // natrM -mulrA mulrC.
  by apply: lerXn2r; rewrite ?nnegrE.
apply: (@lt_le_trans _ _ ((h * m%:R) ^+ 3)).
  rewrite [ltRHS]exprMn [m%:R ^+ 3]exprS mulrA ltr_pM2r ?exprn_gt0 //.
  rewrite mulrC -ltr_pdivrMr ?exprn_gt0 //.
  by apply: lt_trans (archi_boundP Kh0) _; rewrite ltr_nat.
have big : h * m%:R <= q ^+ m.
  elim: {m1 m0}m => [|n IH]; first by rewrite mulr0 ler01.
  have q0 : 0 <= q by rewrite ltW // (lt_trans ltr01).
  have qn : 1 <= q ^+ n by rewrite exprn_ege1 // ltW.
  rewrite natS mulrDr mulr1 exprS.
  have -> : q * q ^+ n = q ^+ n + h * q ^+ n by rewrite /h; ring.
  by rewrite lerD // ler_peMr // ltW.
have nn1 : h * m%:R \is Num.nneg by rewrite nnegrE ltW // mulr_gt0.
have nn2 : q ^+ m \is Num.nneg by rewrite nnegrE exprn_ge0 // ltW // (lt_trans ltr01).
by rewrite exprM lerXn2r.
Qed.

(* --- uniform attention with residual scaling --- *)

Section Uniform.

Variables (R : realFieldType) (n : nat) (Outcome : finType).
Variables (mass : Outcome -> R) (weight : Outcome -> 'M[R]_n).
Hypotheses (n0 : (0 < n)%N) (law : weight_law mass weight 1).
Variables (m : nat) (a b : R).
Hypothesis m0 : (0 < m)%N.

(* Attention that is uniform, times a, and then a linear branch times b; both with fresh weights. *)
Definition mixed V (X : 'I_m -> 'rV[R]_n) (i : 'I_m) : 'rV[R]_n :=
  X i + (a *: average X) *m V.
Definition branched W (X : 'I_m -> 'rV[R]_n) (i : 'I_m) : 'rV[R]_n := X i + (b *: X i) *m W.

(* The squared norm of the sum of the tokens, and the sum of their squared norms. *)
Definition common (X : 'I_m -> 'rV[R]_n) : R := square (\sum_i X i).
Definition total (X : 'I_m -> 'rV[R]_n) : R := \sum_i square (X i).

(* Their means after l layers. *)
Fixpoint mean_after (of_tokens : ('I_m -> 'rV[R]_n) -> R) (l : nat) (X : 'I_m -> 'rV[R]_n) : R :=
  if l is k.+1 then
    mean mass (fun v => mean mass (fun w =>
      mean_after of_tokens k (branched (weight w) (mixed (weight v) X))))
  else of_tokens X.

Lemma common_mixed X : mean mass (fun v => common (mixed (weight v) X)) = (1 + a ^+ 2) * common X.
Proof.
have mR : m%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
transitivity (mean mass (fun v => square (\sum_i X i + (a *: \sum_i X i) *m weight v))).
  apply: eq_mean => v; congr square; rewrite /mixed big_split -mulmx_suml /=.
  congr (_ + _ *m _); rewrite sumr_const card_ord /average -scaler_nat !scalerA.
  by congr (_ *: _); rewrite mulrAC divff ?mul1r.
by rewrite (mean_write n0 law) squareZ mul1r mulrDl mul1r.
Qed.

Lemma common_branched X :
  mean mass (fun w => common (branched (weight w) X)) = (1 + b ^+ 2) * common X.
Proof.
transitivity (mean mass (fun w => square (\sum_i X i + (b *: \sum_i X i) *m weight w))).
  apply: eq_mean => w; congr square; rewrite /branched big_split /=; congr (_ + _).
  by rewrite -mulmx_suml -scaler_sumr.
by rewrite (mean_write n0 law) squareZ mul1r mulrDl mul1r.
Qed.

Lemma total_mixed X :
  mean mass (fun v => total (mixed (weight v) X)) = total X + a ^+ 2 / m%:R * common X.
Proof.
have mR : m%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
rewrite /total mean_sum.
transitivity (\sum_i (square (X i) + a ^+ 2 * (m%:R^-1 ^+ 2 * common X))).
  by apply: eq_bigr => i _; rewrite (mean_write n0 law) mul1r squareZ squareZ.
rewrite big_split sumr_const card_ord /= -[(_ * _) *+ m]mulr_natr; congr (_ + _).
have alg (x c : R) : x != 0 -> a ^+ 2 * (x^-1 ^+ 2 * c) * x = a ^+ 2 / x * c by move=> x0; field.
exact: alg.
Qed.

Lemma total_branched X :
  mean mass (fun w => total (branched (weight w) X)) = (1 + b ^+ 2) * total X.
Proof.
rewrite /total mean_sum mulr_sumr; apply: eq_bigr => i _.
by rewrite (mean_write n0 law) squareZ mul1r mulrDl mul1r.
Qed.

(* Claim: signal_propagation/uniform_growth. The squared norm of the sum of the tokens grows as
   ((1 + a^2)(1 + b^2))^l. The claim's object itself. *)
Theorem uniform_growth_common l X :
  mean_after common l X = ((1 + a ^+ 2) * (1 + b ^+ 2)) ^+ l * common X.
Proof.
elim: l X => [|l IH] X; first by rewrite mul1r.
have -> : mean_after common l.+1 X = mean mass (fun v => mean mass (fun w =>
  mean_after common l (branched (weight w) (mixed (weight v) X)))) by [].
set p := _ ^+ l in IH.
transitivity (mean mass (fun v => p * ((1 + b ^+ 2) * common (mixed (weight v) X)))).
  by apply: eq_mean => v; rewrite -common_branched -meanZ; apply: eq_mean => w; apply: IH.
by rewrite !meanZ common_mixed [_ ^+ l.+1]exprS -/p; move: (common X) p {IH} => c p; ring.
Qed.

(* The sum N of the m tokens' squared norms, where C is the squared norm of their sum, becomes
   (1 + b^2)^l (N + C/m ((1 + a^2)^l - 1)). *)
Theorem uniform_growth_total l X :
  mean_after total l X =
  (1 + b ^+ 2) ^+ l * (total X + common X / m%:R * ((1 + a ^+ 2) ^+ l - 1)).
Proof.
have mR : m%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
elim: l X => [|l IH] X; first by rewrite !expr0 subrr mulr0 addr0 mul1r.
have -> : mean_after total l.+1 X = mean mass (fun v => mean mass (fun w =>
  mean_after total l (branched (weight w) (mixed (weight v) X)))) by [].
pose q := (1 + b ^+ 2) ^+ l; pose k := m%:R^-1 * ((1 + a ^+ 2) ^+ l - 1).
have IHk Y : mean_after total l Y = q * total Y + q * k * common Y.
  by rewrite IH /q /k; move: (total Y) (common Y) (_ ^+ l) => t c p; ring.
transitivity (mean mass (fun v => q * ((1 + b ^+ 2) * total (mixed (weight v) X)) +
                                  q * k * ((1 + b ^+ 2) * common (mixed (weight v) X)))).
  apply: eq_mean => v; rewrite -common_branched -total_branched -!meanZ -meanD.
  by apply: eq_mean => w; apply: IHk.
rewrite meanD !meanZ common_mixed total_mixed.
rewrite [(1 + b ^+ 2) ^+ l.+1]exprS [(1 + a ^+ 2) ^+ l.+1]exprS -/q /k.
have alg (x t c p r : R) : x != 0 ->
    r * ((1 + b ^+ 2) * (t + a ^+ 2 / x * c)) +
    r * (x^-1 * (p - 1)) * ((1 + b ^+ 2) * ((1 + a ^+ 2) * c)) =
    (1 + b ^+ 2) * r * (t + c / x * ((1 + a ^+ 2) * p - 1)) by move=> x0; field.
exact: alg.
Qed.

End Uniform.

(* --- the hypotheses can be met --- *)

(* sigma_l = (l + 2)/2 follows the recursion with constants between 1 and 3/2. *)
Example theta_sequence_met :
  theta_sequence (fun l => l.+2%:R / 2%:R : rat) 1 (3%:R / 2%:R).
Proof.
have closed l : grown (fun l => l.+2%:R / 2%:R : rat) l = l.+2%:R * l.+3%:R / 6%:R.
  rewrite /grown; elim: l => [|l IH]; first by rewrite big_ord0.
  have x0 : l.+2%:R != 0 :> rat by rewrite pnatr_eq0.
  rewrite big_ord_recr /= IH; move: x0; rewrite !natS; move: l%:R => x x0.
  by field.
move=> l; split; first by rewrite divr_gt0 ?ltr0n.
rewrite closed; have x0 : 0 <= l%:R :> rat by rewrite ler0n.
rewrite !natS; move: l%:R x0 => x x0; rewrite -subr_ge0 -[X in _ && X]subr_ge0.
have -> : ((x + 1 + 1) / 2%:R) ^+ 2 - 1 ^+ 2 * ((0%:R + 1 + 1) / 2%:R) ^+ 2 *
   ((x + 1 + 1) * (x + 1 + 1 + 1) / 6%:R) = (x + 2%:R) * x / 12%:R by field.
have -> : 3%:R / 2%:R * ((0%:R + 1 + 1) / 2%:R) ^+ 2 *
   ((x + 1 + 1) * (x + 1 + 1 + 1) / 6%:R) - ((x + 1 + 1) / 2%:R) ^+ 2 =
   (x + 2%:R) / 4%:R by field.
by rewrite !divr_ge0 ?mulr_ge0 ?addr_ge0.
Qed.

(* Sign weights at width 4 and rows of ones in the place of normalised rows. *)
Example pre_ln_met l (X : 'I_3 -> 'rV[rat]_4) i :
  square (X i) + l%:R / 2%:R * 4%:R <=
  pre_ln_square (@sign_mass (rat : realFieldType) 4) (sign_weight (2%:R^-1 : rat))
    (fun=> const_mx 1) l X i.
Proof.
have law := sign_law (2%:R^-1 : (rat : realFieldType)) (isT : (0 < 4)%N).
have one : 4%:R * (2%:R^-1 : rat) ^+ 2 = 1 by apply/eqP.
rewrite one in law; have ones (x : 'rV[rat]_4) : square (const_mx 1 : 'rV[rat]_4) = 4%:R.
  by rewrite /square (eq_bigr (fun=> 1)) ?sumr_const ?card_ord // => k _; rewrite mxE expr1n.
exact: (pre_ln_norm (isT : (0 < 4)%N) law ones (isT : (0 < 3)%N) l X i).1.
Qed.

Lemma square_ones (R : realFieldType) n : square (const_mx 1 : 'rV[R]_n) = n%:R.
Proof.
by rewrite /square (eq_bigr (fun=> 1)) ?sumr_const ?card_ord // => k _; rewrite mxE expr1n.
Qed.

(* Kaiming's variance 2/n at width 2, signs themselves: a mean square of 4 at every layer. *)
Example kaiming_keeps_met (R : realFieldType) l :
  relu_square (@sign_mass R 2) (sign_weight (1 : R)) l (const_mx 1) = 4%:R.
Proof.
have law := sign_law (1 : R) (isT : (0 < 2)%N); rewrite expr1n mulr1 in law.
rewrite (kaiming_keeps l _ (isT : (0 < 2)%N) law) /= (mean_square (isT : (0 < 2)%N) law).
by rewrite square_ones -natrM.
Qed.

(* No activation, and signs at width 4: each layer multiplies by 4, whatever the input. *)
Example kaiming_linear_met (R : realFieldType) l :
  linear_square (@sign_mass R 4) (sign_weight (1 : R)) l (const_mx 1) = 4%:R ^+ l.+2.
Proof.
have law := sign_law (1 : R) (isT : (0 < 4)%N); rewrite expr1n mulr1 in law.
rewrite (kaiming_variance_linear (isT : (0 < 4)%N) law) /= (mean_square (isT : (0 < 4)%N) law).
by rewrite square_ones -expr2 -exprD addn2.
Qed.

(* RMSNorm, where it is defined; and ones in the place of a row of zeros. *)
Definition rms_norm (R : rcfType) n (x : 'rV[R]_n) : 'rV[R]_n :=
  if square x == 0 then const_mx 1 else Num.sqrt (n%:R / square x) *: x.

Lemma rms_norm_square (R : rcfType) n (x : 'rV[R]_n) : square (rms_norm x) = n%:R.
Proof.
rewrite /rms_norm; case: eqP => [_ | /eqP x0]; first exact: square_ones.
by rewrite squareZ sqr_sqrtr ?divr_ge0 ?ler0n ?square_ge0 // divfK.
Qed.

(* RMSNorm and signs over 2 at width 4: 6 enters the last normalisation, and in three layers of
   pre-LN a token gains between 6 and 18. *)
Example rms_norm_met (R : rcfType) (x : 'rV[R]_4) (X : 'I_3 -> 'rV[R]_4) i :
  let weight := sign_weight (2%:R^-1 : R) in
  let E := mean (@sign_mass R 4) in
  let y := rms_norm x in
  (E (fun a => E (fun b => square (y + relu (y *m weight a) *m weight b))) = 6%:R) /\
  (square (X i) + 6%:R <= pre_ln_square (@sign_mass R 4) weight (@rms_norm R 4) 3 X i) /\
  (pre_ln_square (@sign_mass R 4) weight (@rms_norm R 4) 3 X i <= square (X i) + 18%:R).
Proof.
move=> weight E y.
have law := sign_law (2%:R^-1 : R) (isT : (0 < 4)%N).
have one : 4%:R * (2%:R^-1 : R) ^+ 2 = 1 by field.
rewrite one in law; have normed := @rms_norm_square R 4.
split; first by rewrite /E /y (post_ln_norm (isT : (0 < 4)%N) law normed); field.
have [low high] := pre_ln_norm (isT : (0 < 4)%N) law normed (isT : (0 < 3)%N) 3 X i.
split; first by apply: le_trans low; rewrite lerD2l le_eqVlt; apply/orP; left; apply/eqP; field.
by apply: le_trans high _; rewrite lerD2l le_eqVlt; apply/orP; left; apply/eqP; field.
Qed.

(* Three tokens that are unit vectors, attention times 1 and branches times 1/2: the common part
   grows by 5/2 with every layer. *)
Example uniform_growth_met (R : realFieldType) l :
  let X (i : 'I_3) : 'rV[R]_4 := delta_mx 0 (widen_ord (leqnSn 3) i) in
  let grows of_tokens := mean_after (@sign_mass R 4) (sign_weight (2%:R^-1 : R)) (m := 3) 1 2%:R^-1
    of_tokens l X in
  (grows (@common R 4 3) = (5%:R / 2%:R) ^+ l * 3%:R) /\
  (grows (@total R 4 3) = (5%:R / 4%:R) ^+ l * (2%:R + 2%:R ^+ l)).
Proof.
move=> X grows.
have law := sign_law (2%:R^-1 : R) (isT : (0 < 4)%N).
have one : 4%:R * (2%:R^-1 : R) ^+ 2 = 1 by field.
rewrite one in law.
have common3 : common X = 3%:R.
  rewrite /common /square !big_ord_recl !big_ord0 !mxE /=.
  ring.
have total3 : total X = 3%:R.
  by rewrite /total /square !big_ord_recl !big_ord0 !mxE /=; ring.
have factor : 1 + (2%:R^-1 : R) ^+ 2 = 5%:R / 4%:R by field.
have two : 1 + 1 ^+ 2 = 2%:R :> R by ring.
split.
  rewrite /grows (uniform_growth_common (isT : (0 < 4)%N) law) // common3 factor two.
  by congr (_ ^+ _ * _); field.
rewrite /grows (uniform_growth_total (isT : (0 < 4)%N) law) // common3 total3 factor two.
by congr (_ * _); move: (2%:R ^+ l) => p; field.
Qed.

(* Four layers of which the last is kept in half of the nets: 11/4 of them; three of which it is
   kept in a third: 5/3. *)
Example expected_depth_met (R : realFieldType) :
  kept_mean (survival (3%:R^-1 : R)) (fun kept : {ffun 'I_3 -> bool} => \sum_l (kept l)%:R) =
    5%:R / 3%:R /\
  kept_mean (survival (2%:R^-1 : R)) (fun kept : {ffun 'I_4 -> bool} => \sum_l (kept l)%:R) =
    11%:R / 4%:R.
Proof. by rewrite expected_depth // expected_depth_half //; split; field. Qed.

(* Two branches of slope 1, each kept in half of the nets: 9/4, and not 4. *)
Example stochastic_depth_unscaled_met (R : realFieldType) :
  kept_mean (fun _ : 'I_2 => 2%:R^-1) (kept_output (1 : R)) < 4%:R.
Proof.
have -> : 4%:R = (1 + 1) ^+ 2 :> R by ring.
apply: stochastic_depth_unscaled_fails => //.
by rewrite invr_ge0 ler0n invf_lt1 ?ltr0n ?ltr1n.
Qed.

(* Writes of size 3 whose sign depends on layer and stream. *)
Definition written (R : realFieldType) (j : nat) (y : R) : R := if y < j%:R then 3%:R else - 3%:R.

Lemma written_square (R : realFieldType) j (y : R) : written j y ^+ 2 = 9%:R.
Proof. by rewrite /written; case: ifP => _; ring. Qed.

(* Sixteen of them, times 1/4, add 9 to the mean square. *)
Example residual_stream_met (R : realFieldType) (x : R) :
  walk (@written R) 2%:R^-1 4 x = x ^+ 2 + 9%:R /\
  walk (@written R) 4%:R^-1 (2 * 8) 1 = 1 + 9%:R.
Proof.
split.
  by rewrite (residual_stream _ _ _ (@written_square R)); field.
apply: residual_stream_scaled => //; last exact: written_square.
by rewrite (_ : (2 * 8)%N = 4 ^ 2)%N // natrX exprVn.
Qed.

(* Slopes 1/2 and -1/3. *)
Example residual_gradient_between_met (R : realFieldType) (x : R) :
  let net := residual_net [:: 2%:R^-1 *: 'X; - 3%:R^-1 *: 'X] in
  (2%:R^-1 ^+ 2 <= net^`().[x]) /\ (net^`().[x] <= (3%:R / 2%:R) ^+ 2).
Proof.
move=> net; apply/andP.
have -> : 3%:R / 2%:R = 1 + 2%:R^-1 :> R by field.
have {1}-> : 2%:R^-1 = 1 - 2%:R^-1 :> R by field.
apply: (@residual_gradient_between R [:: 2%:R^-1 *: 'X; - 3%:R^-1 *: 'X]).
  by rewrite invf_le1 ?ltr0n // ler1n.
move=> f; rewrite !inE => /orP[] /eqP-> y; rewrite derivZ derivX hornerZ hornerC mulr1.
  by rewrite ger0_norm // invr_ge0 ler0n.
by rewrite normrN ger0_norm ?invr_ge0 ?ler0n // lef_pV2 ?posrE ?ltr0n // ler_nat.
Qed.

(* A depth that the claim measures. *)
Example residual_gradient_fails_met (R : realFieldType) (x : R) :
  (residual_net (nseq 12 (- 100%:R^-1 *: 'X)))^`().[x] < 1.
Proof. exact: residual_gradient_at_least_one_fails. Qed.

(* Four branches of slope 1/8. *)
Example scaled_branches_met (R : realFieldType) :
  3%:R / 2%:R <= (1 + (8%:R^-1 : R)) ^+ 4 <= 2%:R.
Proof.
have c0 : 0 <= (2%:R^-1 : R) < 1 by rewrite invr_ge0 ler0n invf_lt1 ?ltr0n ?ltr1n.
have := scaled_branches_bounded (isT : (0 < 4)%N) c0.
have -> : 1 + 2%:R^-1 = 3%:R / 2%:R :> R by field.
have -> : 2%:R^-1 / 4%:R = 8%:R^-1 :> R by field.
by have -> : (1 - 2%:R^-1)^-1 = 2%:R :> R by field.
Qed.

(* sigma_l = (l + 2)/2 is at most what the bound says, and below 1.1^l somewhere. *)
Example pre_ln_variance_bounds_met l :
  (l.+2%:R / 2%:R) ^+ 2 <= 3%:R / 2%:R * (1 + l%:R / 2%:R) ^+ 2 :> rat /\
  exists k, (k.+2%:R / 2%:R) ^+ 2 < (11%:R / 10%:R) ^+ k :> rat.
Proof.
split; last first.
  exact: (pre_ln_variance_exponential_fails (q := 11%:R / 10%:R) _ _ theta_sequence_met).
have := pre_ln_variance_quadratic l ltr01 (isT : 0 <= 3%:R / 2%:R :> rat) theta_sequence_met.
by rewrite expr1n divr1 mul1r divff.
Qed.

(* --- the theorems with the numbers that claims compare --- *)

Local Notation quotient v := ((nat_of_bin v.1)%:R / (nat_of_bin v.2)%:R).

(* Claim: signal_propagation/expected_depth. The mean number of layers kept, where the last layer is
   kept with probability a/b. *)
Corollary expected_depth_checked (R : realFieldType) (L a b : nat) :
  (0 < L)%N -> (0 < b)%N ->
  let v := expected_depth_value (bin_of_nat L) (bin_of_nat a) (bin_of_nat b) in
  kept_mean (survival (a%:R / b%:R)) (fun kept : {ffun 'I_L -> bool} => \sum_l (kept l)%:R)
  = quotient v :> R.
Proof. by move=> L0 b0 v; rewrite expected_depth // expected_depth_valueE. Qed.

(* Four layers, the last kept in half of the nets: 22/8. *)
Example expected_depth_checked_met (R : realFieldType) :
  kept_mean (survival (1%:R / 2%:R : R)) (fun kept : {ffun 'I_4 -> bool} => \sum_l (kept l)%:R) =
  11%:R / 4%:R.
Proof.
rewrite (@expected_depth_checked R 4 1 2) // -expected_depth_valueE //; field.
Qed.

Lemma bin_pred l : (bin_of_nat l - 1)%num = bin_of_nat l.-1.
Proof.
case: l => // l; rewrite (_ : bin_of_nat l.+1 = bin_of_nat l + 1)%num ?N.add_sub //.
by apply: (can_inj nat_of_binK); rewrite nat_of_add_bin !bin_of_natK addn1.
Qed.

(* Claim: signal_propagation/kaiming_variance. Layer l of square layers with weights of variance
   (a/b)/n that share one symmetric law has, before its activation, the mean square of the first
   layer times this; of a linear net (kept share 1 in the place of 1/2) too. *)
Corollary kaiming_variance_checked (R : realFieldType) n (Outcome : finType) (mass : Outcome -> R)
    (weight : Outcome -> 'M[R]_n) (a b l : nat) x :
  (0 < n)%N -> weight_law mass weight (a%:R / b%:R) ->
  let v share := kaiming_value (bin_of_nat l - 1) (bin_of_nat a * 2 * 1 / share) (bin_of_nat b) in
  relu_square mass weight l.-1 x = quotient (v 2%num) * relu_square mass weight 0 x /\
  linear_square mass weight l.-1 x = quotient (v 1%num) * linear_square mass weight 0 x.
Proof.
move=> n0 law v.
have half : (bin_of_nat a * 2 * 1 / 2)%num = bin_of_nat a by rewrite N.mul_1_r N.div_mul.
have whole : (bin_of_nat a * 2 * 1 / 1)%num = bin_of_nat (2 * a).
  rewrite N.mul_1_r N.div_1_r; apply: (can_inj nat_of_binK).
  by rewrite nat_of_mul_bin !bin_of_natK mulnC.
rewrite /v bin_pred half whole -!kaiming_valueE (kaiming_variance n0 law).
rewrite (kaiming_variance_linear n0 law).
split=> //; congr (_ ^+ _ * _).
by rewrite natrM [2%:R * _]mulrC [RHS]mulrAC mulfK ?pnatr_eq0.
Qed.

(* Signs at width 4, so g = 4/1: to layer 3, two factors of 2 with ReLU and of 4 without. *)
Example kaiming_checked_met (R : realFieldType) :
  let x : 'rV[R]_4 := const_mx 1 in
  relu_square (@sign_mass R 4) (sign_weight 1) 2 x = 2%:R ^+ 2 * 16%:R /\
  linear_square (@sign_mass R 4) (sign_weight 1) 2 x = 4%:R ^+ 2 * 16%:R.
Proof.
move=> x; have law := sign_law (1 : R) (isT : (0 < 4)%N).
have law' : weight_law (@sign_mass R 4) (sign_weight 1) (4%:R / 1%:R).
  by move: law; rewrite expr1n mulr1 divr1.
have first : mean (@sign_mass R 4) (fun w => square (x *m sign_weight 1 w)) = 16%:R.
  by rewrite (mean_square (isT : (0 < 4)%N) law') square_ones; field.
have [reluE linearE] := @kaiming_variance_checked R 4 _ _ _ 4 1 3 x isT law'.
have two : (bin_of_nat 3 - 1)%num = bin_of_nat 2 by [].
have half : (bin_of_nat 4 * 2 * 1 / 2)%num = bin_of_nat 4 by [].
have whole : (bin_of_nat 4 * 2 * 1 / 1)%num = bin_of_nat 8 by [].
rewrite two half -kaiming_valueE in reluE; rewrite two whole -kaiming_valueE in linearE.
move: reluE linearE; rewrite /= first => -> ->.
by split; congr (_ ^+ _ * _); field.
Qed.

(* --- refutations at cases of claims --- *)

(* (99/100)^n, (l/2 + 1)^2, (n + 2)/(2 (n + 1)) and, for p = a/b and a branch of slope c/d,
   (1 + p c/d)^L on binary numbers. *)
Definition residual_gradient_value (n : N) : N * N := (N.pow 99 n, N.pow 100 n).
Definition pre_ln_value (l : N) : N * N := (N.pow (l + 2) 2, 4%num).
Definition product_value (n : N) : N * N := (n + 2, 2 * (n + 1))%num.
Definition unscaled_value (L a b c d : N) : N * N :=
  (N.pow (b * d + a * c) L, N.pow (b * d) L)%num.

Lemma residual_gradient_valueE (R : realFieldType) (n : nat) :
  (1 - 100%:R^-1) ^+ n = quotient (residual_gradient_value (bin_of_nat n)) :> R.
Proof.
rewrite /residual_gradient_value; lazy beta iota delta [fst snd].
rewrite !pow_bin !bin_of_natK !natrX -expr_div_n; congr (_ ^+ _).
by have [-> ->] : nat_of_bin 99 = 99%N /\ nat_of_bin 100 = 100%N by []; field.
Qed.

Lemma pre_ln_valueE (R : realFieldType) (l : nat) :
  (1 + l%:R / 2%:R) ^+ 2 = quotient (pre_ln_value (bin_of_nat l)) :> R.
Proof.
rewrite /pre_ln_value; lazy beta iota delta [fst snd].
rewrite !pow_bin nat_of_add_bin !bin_of_natK natrX natrD.
have [-> ->] : nat_of_bin 2 = 2%N /\ nat_of_bin 4 = 4%N by [].
by move: l%:R => x; field.
Qed.

Lemma product_valueE (R : realFieldType) (n : nat) :
  n.+2%:R / (2%:R * n.+1%:R) = quotient (product_value (bin_of_nat n)) :> R.
Proof.
rewrite /product_value; lazy beta iota delta [fst snd].
by rewrite nat_of_mul_bin !nat_of_add_bin !bin_of_natK natrM addn1 addn2.
Qed.

Lemma unscaled_valueE (R : realFieldType) (L a b c d : nat) :
  (0 < b)%N -> (0 < d)%N ->
  let v := unscaled_value (bin_of_nat L) (bin_of_nat a) (bin_of_nat b) (bin_of_nat c)
                          (bin_of_nat d) in
  (1 + a%:R / b%:R * (c%:R / d%:R)) ^+ L = quotient v :> R.
Proof.
move=> b0 d0; rewrite /unscaled_value; lazy beta iota delta [fst snd].
rewrite !pow_bin nat_of_add_bin !nat_of_mul_bin !bin_of_natK !natrX -expr_div_n.
congr (_ ^+ _); rewrite natrD !natrM.
have b0' : b%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have d0' : d%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
by move: (a%:R : R) (b%:R : R) (c%:R : R) (d%:R : R) b0' d0' => x y z t y0 t0; field; rewrite y0 t0.
Qed.

(* Claim: signal_propagation/residual_gradient_at_least_one. It fails: n branches -x/100 make the
   derivative (99/100)^n. *)
Corollary residual_gradient_refuted (R : realFieldType) n (x : R) :
  (residual_net (nseq n (- 100%:R^-1 *: 'X)))^`().[x]
  = quotient (residual_gradient_value (bin_of_nat n)).
Proof. by rewrite residual_gradient_linear residual_gradient_valueE. Qed.

(* Claim: signal_propagation/pre_ln_variance_exponential. It fails: the variance of layer l, counted
   from 1, of the recursion that starts at 1 is at most ((l + 1)/2)^2. *)
Corollary pre_ln_variance_refuted (R : realFieldType) (sigma : nat -> R) l :
  sigma 0%N = 1 -> (forall k, 0 < sigma k /\ sigma k ^+ 2 = grown sigma k) ->
  sigma l.-1 ^+ 2 <= quotient (pre_ln_value (bin_of_nat l - 1)).
Proof.
move=> first seq; rewrite bin_pred; have theta : theta_sequence sigma 1 1.
  by move=> k; have [s0 ->] := seq k; rewrite first !expr1n !mul1r lexx.
rewrite -pre_ln_valueE; have := pre_ln_variance_quadratic l.-1 ltr01 ler01 theta.
by rewrite first expr1n divr1 !mul1r.
Qed.

(* Claim: signal_propagation/product_vanishes. It fails: the product of n factors 1 - 1/(i + 1)^2,
   all in (0, 1), is (n + 2)/(2 (n + 1)). *)
Corollary product_vanishes_refuted (R : realFieldType) n :
  \prod_(i < n) (1 - (i.+2%:R ^+ 2)^-1) = quotient (product_value (bin_of_nat n)) :> R.
Proof. by rewrite (product_vanishes_fails R n).1 product_valueE. Qed.

(* Claim: signal_propagation/stochastic_depth_unscaled. It fails: the mean output of L branches of
   slope c/d, each kept with probability a/b, is (1 + (a c)/(b d))^L. *)
Corollary stochastic_depth_unscaled_refuted (R : realFieldType) (L a b c d : nat) :
  (0 < b)%N -> (0 < d)%N ->
  let v := unscaled_value (bin_of_nat L) (bin_of_nat a) (bin_of_nat b) (bin_of_nat c)
                          (bin_of_nat d) in
  kept_mean (fun _ : 'I_L => a%:R / b%:R) (kept_output (c%:R / d%:R)) = quotient v :> R.
Proof. by move=> b0 d0 v; rewrite stochastic_depth_unscaled unscaled_valueE. Qed.

(* Two branches of slope 1, each kept with probability 1/2: 9/4. *)
Example stochastic_depth_refuted_met (R : realFieldType) :
  kept_mean (fun _ : 'I_2 => 1%:R / 2%:R) (kept_output (1%:R / 1%:R)) = 9%:R / 4%:R :> R.
Proof.
by rewrite (@stochastic_depth_unscaled_refuted R 2 1 2 1 1) // -unscaled_valueE //; field.
Qed.

(* The recursion has a solution: variances v_(k+1) = v_k + sqrt(v_k) from 1. *)
Fixpoint variance (R : rcfType) (k : nat) : R :=
  if k is j.+1 then variance R j + Num.sqrt (variance R j) else 1.

Lemma variance_gt0 (R : rcfType) k : 0 < variance R k.
Proof. by elim: k => [|k IH]; rewrite ?ltr01 // ltr_wpDr ?sqrtr_ge0. Qed.

Lemma variance_grown (R : rcfType) k :
  grown (fun j => Num.sqrt (variance R j)) k = variance R k.
Proof.
rewrite /grown; elim: k => [|k IH]; first by rewrite big_ord0.
have root0 : Num.sqrt (variance R k) != 0 by rewrite gt_eqF // sqrtr_gt0 variance_gt0.
rewrite big_ord_recr /= IH mulrDr mulr1; congr (_ + _).
by rewrite -{1}(sqr_sqrtr (ltW (variance_gt0 R k))) expr2 mulfK.
Qed.

(* So it is met at every depth, and layer 200 has variance at most 201^2/4. *)
Example pre_ln_variance_met (R : rcfType) l :
  variance R l.-1 <= quotient (pre_ln_value (bin_of_nat l - 1)) /\
  variance R 199 <= 201%:R ^+ 2 / 4%:R.
Proof.
pose sigma j := Num.sqrt (variance R j).
have sqr k : sigma k ^+ 2 = variance R k by apply: sqr_sqrtr; apply/ltW/variance_gt0.
have seq k : 0 < sigma k /\ sigma k ^+ 2 = grown sigma k.
  by rewrite sqr variance_grown sqrtr_gt0 variance_gt0.
have bound := pre_ln_variance_refuted _ (sqrtr1 R : sigma 0%N = 1) seq.
split; first by rewrite -sqr.
have := bound 200%N; rewrite bin_pred -pre_ln_valueE sqr => /le_trans; apply.
rewrite le_eqVlt; apply/orP; left; apply/eqP.
have -> : 1 + 199%:R / 2%:R = 201%:R / 2%:R :> R by field.
by rewrite expr_div_n; congr (_ / _); rewrite -natrX.
Qed.

(* --- means that hold --- *)

(* The product over the layers 1 to L of 1 + (1 - l/L (1 - a/b)) (c - e)/d: its numerator over
   layers up to l, with the denominator L b d of each. *)
Fixpoint rescaled_numerator (L a b c e d : N) (l : nat) : N :=
  if l is m.+1 then
    let keep := (L * b - bin_of_nat l * (b - a))%num in
    (rescaled_numerator L a b c e d m * (L * b * d + keep * c - keep * e))%num
  else 1%num.
Definition rescaled_value (L a b c e d : N) : N * N :=
  (rescaled_numerator L a b c e d (nat_of_bin L), N.pow (L * b * d) L)%num.

Lemma nat_of_sub_bin (x y : N) : nat_of_bin (x - y) = (nat_of_bin x - nat_of_bin y)%N.
Proof. lia. Qed.

Lemma rescaled_valueE (R : realFieldType) (L a b c e d : nat) :
  (0 < L)%N -> (0 < b)%N -> (0 < d)%N -> (a <= b)%N -> (e <= d)%N ->
  let v := rescaled_value (bin_of_nat L) (bin_of_nat a) (bin_of_nat b)
             (bin_of_nat c) (bin_of_nat e) (bin_of_nat d) in
  \prod_(l < L) (1 + survival (a%:R / b%:R) l * ((c%:R - e%:R) / d%:R)) = quotient v :> R.
Proof.
move=> L0 b0 d0 ab ed; rewrite /rescaled_value; lazy beta iota zeta delta [fst snd].
rewrite pow_bin !nat_of_mul_bin !bin_of_natK /survival.
have L0' : L%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have b0' : b%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have d0' : d%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
suff step M : (M <= L)%N ->
    \prod_(l < M) (1 + (1 - l.+1%:R / L%:R * (1 - a%:R / b%:R)) * ((c%:R - e%:R) / d%:R)) =
    (nat_of_bin (rescaled_numerator (bin_of_nat L) (bin_of_nat a) (bin_of_nat b)
       (bin_of_nat c) (bin_of_nat e) (bin_of_nat d) M))%:R / (L * b * d)%:R ^+ M :> R.
  by rewrite natrX; apply: step.
elim: M => [|M IH] ML; first by rewrite big_ord0 divr1.
rewrite big_ord_recr [LHS]/= IH ?(ltnW ML) //.
have {IH}kL : (M.+1 * (b - a) <= L * b)%N by apply: leq_mul => //; apply: leq_subr.
have ke : ((L * b - M.+1 * (b - a)) * e <= L * b * d + (L * b - M.+1 * (b - a)) * c)%N.
  by apply: leq_trans (leq_addr _ _); apply: leq_mul => //; apply: leq_subr.
cbn [rescaled_numerator]; cbv zeta.
rewrite nat_of_mul_bin nat_of_sub_bin nat_of_add_bin !nat_of_mul_bin nat_of_sub_bin.
rewrite !nat_of_mul_bin nat_of_sub_bin !bin_of_natK.
rewrite [in RHS]natrM [in RHS]natrB // natrD !natrM natrB // !natrM natrB // exprSr.
set P := (nat_of_bin _)%:R; set q := _ ^+ M; have q0 : q != 0.
  by rewrite expf_neq0 // !mulf_neq0.
clearbody P q; move: (M.+1%:R) (L%:R) (a%:R) (b%:R) (c%:R) (e%:R) (d%:R) L0' b0' d0'.
move=> m x y z t u w x0 z0 w0.
by field; rewrite q0 x0 z0 w0.
Qed.

(* Claim: signal_propagation/stochastic_depth_rescaled. With keep probabilities that fall linearly
   to p, the mean output of the nets with layers dropped is that of the net whose branches are
   scaled by them, whatever the slope; and its value for p = a/b <= 1 and a slope (c - e)/d, -1 at
   least. *)
Corollary stochastic_depth_rescaled_checked (R : realFieldType) :
  (forall L (p slope : R),
    kept_mean (@survival R L p) (kept_output slope) = \prod_(l < L) (1 + survival p l * slope)) /\
  (forall L a b c e d : nat,
    (0 < L)%N -> (0 < b)%N -> (0 < d)%N -> (a <= b)%N -> (e <= d)%N ->
    let v := rescaled_value (bin_of_nat L) (bin_of_nat a) (bin_of_nat b)
               (bin_of_nat c) (bin_of_nat e) (bin_of_nat d) in
    kept_mean (@survival R L (a%:R / b%:R)) (kept_output ((c%:R - e%:R) / d%:R)) = quotient v).
Proof.
split=> [L p slope|L a b c e d L0 b0 d0 ab ed v]; rewrite stochastic_depth_rescaled //.
exact: rescaled_valueE.
Qed.

(* Two layers, the last of them kept in half of the nets, with branches of slope -1/3: 3/4 times
   5/6. *)
Example stochastic_depth_rescaled_met (R : realFieldType) :
  kept_mean (@survival R 2 (1%:R / 2%:R)) (kept_output ((0%:R - 1%:R) / 3%:R)) = 5%:R / 8%:R.
Proof.
have [_ checked] := stochastic_depth_rescaled_checked R.
rewrite (checked 2 1 2 0 1 3)%N // -rescaled_valueE // /survival.
by rewrite !big_ord_recr big_ord0 /=; field.
Qed.

(* 3/2, and the two ends 1 + l/2 and 1 + 3 l/2. *)
Definition post_ln_value : N * N := (3, 2)%num.
Definition pre_ln_norm_value (l : N) : (N * N) * (N * N) := ((2 + l, 2), (2 + 3 * l, 2))%num.

Lemma post_ln_valueE (R : realFieldType) : 3%:R / 2%:R = quotient post_ln_value :> R.
Proof. by []. Qed.

Lemma pre_ln_norm_valueE (R : realFieldType) (l : nat) :
  let v := pre_ln_norm_value (bin_of_nat l) in
  1 + l%:R / 2%:R = quotient v.1 :> R /\ 1 + 3%:R * l%:R / 2%:R = quotient v.2 :> R.
Proof.
rewrite /pre_ln_norm_value; lazy beta iota zeta delta [fst snd].
rewrite !nat_of_add_bin nat_of_mul_bin bin_of_natK.
have [-> ->] : nat_of_bin 2 = 2%N /\ nat_of_bin 3 = 3%N by [].
by rewrite (natrD R 2 l) (natrD R 2 (3 * l)) natrM; split; move: (l%:R : R) => x; field.
Qed.

(* Claim: signal_propagation/post_ln_norm. The sum that enters the last LayerNorm of a post-LN layer
   has this mean square of a coordinate, in every layer, at every input and token; LayerNorm is any
   map to rows of mean square 1, attention any map of weights and tokens. *)
Corollary post_ln_norm_checked (R : realFieldType) n (Outcome : finType) (mass : Outcome -> R)
    (weight : Outcome -> 'M[R]_n) (normed : 'rV[R]_n -> 'rV[R]_n) m attends l
    (X : 'I_m -> 'rV[R]_n) i :
  (0 < n)%N -> weight_law mass weight 1 -> (forall x, square (normed x) = n%:R) ->
  post_ln_square mass weight normed attends l X i / n%:R = quotient post_ln_value.
Proof.
move=> n0 law normedE; rewrite (post_ln_layers n0 law normedE) mulfK //.
by rewrite pnatr_eq0 -lt0n.
Qed.

(* Claim: signal_propagation/pre_ln_norm. A token of mean square 1 has after l layers of a pre-LN
   net a mean square of a coordinate between these two; LayerNorm is any map to rows of mean square
   1. *)
Corollary pre_ln_norm_checked (R : realFieldType) n (Outcome : finType) (mass : Outcome -> R)
    (weight : Outcome -> 'M[R]_n) (normed : 'rV[R]_n -> 'rV[R]_n) m l
    (X : 'I_m -> 'rV[R]_n) i :
  (0 < n)%N -> weight_law mass weight 1 -> (forall x, square (normed x) = n%:R) -> (0 < m)%N ->
  square (X i) = n%:R ->
  let v := pre_ln_norm_value (bin_of_nat l) in
  quotient v.1 <= pre_ln_square mass weight normed l X i / n%:R <= quotient v.2.
Proof.
move=> n0 law normedE m0 X1; case: (pre_ln_norm_valueE R l) => e1 e2; lazy zeta; rewrite -e1 -e2.
have [low high] := pre_ln_norm n0 law normedE m0 l X i; rewrite X1 in low high.
have nR : 0 < n%:R :> R by rewrite ltr0n.
rewrite ler_pdivlMr // ler_pdivrMr // (mulrDl 1 (l%:R / _)) (mulrDl 1 (_ * l%:R / _)) !mul1r.
exact/andP.
Qed.

(* RMSNorm and signs over 2 at width 4, ones as tokens, and attention that writes nothing. *)
Example norms_checked_met (R : rcfType) l (i : 'I_3) :
  let weight := sign_weight (2%:R^-1 : R) in
  let X := (fun=> const_mx 1) : 'I_3 -> 'rV[R]_4 in
  post_ln_square (@sign_mass R 4) weight (@rms_norm R 4) (fun _ _ _ => 0) l X i / 4%:R
    = 3%:R / 2%:R /\
  1 + l%:R / 2%:R <= pre_ln_square (@sign_mass R 4) weight (@rms_norm R 4) l X i / 4%:R.
Proof.
move=> weight X; have law := sign_law (2%:R^-1 : R) (isT : (0 < 4)%N).
have one : 4%:R * (2%:R^-1 : R) ^+ 2 = 1 by field.
rewrite one in law; split.
  exact: (post_ln_norm_checked _ l X i (isT : (0 < 4)%N) law (@rms_norm_square R 4)).
have := pre_ln_norm_checked l (isT : (0 < 4)%N) law (@rms_norm_square R 4) (isT : (0 < 3)%N)
  (square_ones R 4 : square (X i) = _).
by case: (pre_ln_norm_valueE R l) => e1 _ /andP[]; rewrite -e1.
Qed.
