(* Parity: one layer of softmax attention needs a head for every bit.

   The layer of theory/least_depth/parity.py, read at a query token behind the bits. A softmax
   weight is any positive number, which may depend on position and bit; a value is what the linear
   read-out makes of a value vector, so no width is named. Heads of transformers are such heads,
   whatever their scores: Bridges.parity_read and parity_transformer. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Depthlaw Require Import Thoughts.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Parity.

Variable F : realFieldType.
Variable n : nat.
Notation bits := (word ('I_n : finType) (bool : finType)).
Implicit Type x : bits.

(* --- the layer --- *)

Record head := Head
  { weight : 'I_n -> bool -> F;
    value : 'I_n -> bool -> F;
    query_weight : F;
    query_value : F }.

Definition positive (h : head) := (forall i b, 0 < weight h i b) /\ 0 < query_weight h.

(* The mean of the values, weighted. *)
Definition total (h : head) x : F := \sum_i weight h i (x i) + query_weight h.
Definition mean (h : head) x : F :=
  (\sum_i weight h i (x i) * value h i (x i) + query_weight h * query_value h) / total h x.

(* The read-out: the sum of the heads and a constant. *)
Definition output H (net : 'I_H -> head) (c : F) x : F := \sum_h mean (net h) x + c.

(* Positive on the words of one parity, and on no other. *)
Definition decides (target : bool) H (net : 'I_H -> head) (c : F) :=
  forall x, (0 < output net c x) = (parity x == target).

(* Some H heads decide parity. *)
Definition decided target H :=
  exists (net : 'I_H -> head) (c : F), (forall h, positive (net h)) /\ decides target net c.

(* Some do so by what they read of the bits alone: the query token has the value 0. *)
Definition decided_by_bits target H := exists (net : 'I_H -> head) (c : F),
  (forall h, positive (net h) /\ query_value (net h) = 0) /\ decides target net c.

Lemma decided_any target H : decided_by_bits target H -> decided target H.
Proof. by case=> net [c [pos right]]; exists net, c; split=> // h; case: (pos h). Qed.

(* --- too few heads --- *)

Definition sign x : F := (-1) ^+ parity x.

Lemma sign_flip j x : sign (flip j x) = - sign x.
Proof.
rewrite /sign /parity !odd_sum flip_odd; case: (\big[addb/false]_l _) => /=.
  by rewrite expr1 opprK.
by rewrite expr1.
Qed.

Lemma flipK j : involutive (@flip ('I_n : finType) j).
Proof.
by move=> x; apply/ffunP => l; rewrite !ffunE; case: eqP => // _; rewrite negbK.
Qed.

Lemma even_sum0 (G : bits -> F) j : (forall x, G (flip j x) = G x) -> \sum_x sign x * G x = 0.
Proof.
move=> same; set S := \sum_x _; have SE : S = - S.
  rewrite {1}/S (reindex_inj (inv_inj (@flipK j))) /= -sumrN; apply: eq_bigr => x _.
  by rewrite sign_flip same mulNr.
by apply/eqP; rewrite -[_ == _](mulrn_eq0 S 2) mulr2n {1}SE addNr.
Qed.

(* Products of fewer than n linear functions of the tokens, with the signs of all words, cancel. *)
Lemma products_cancel H (f : 'I_H -> option 'I_n -> bits -> F) : (H < n)%N ->
  (forall h o j x, o != Some j -> f h o (flip j x) = f h o x) ->
  \sum_x sign x * (\prod_h (\sum_o f h o x)) = 0.
Proof.
move=> few one; under eq_bigr => x _ do rewrite bigA_distr_bigA /= mulr_sumr.
rewrite exchange_big big1 //= => phi _.
have [j jP] : exists j : 'I_n, forall h, phi h != Some j.
  have [/existsP [j /forallP jP]|] := boolP [exists j : 'I_n, [forall h, phi h != Some j]].
    by exists j.
  rewrite negb_exists => /forallP all_in.
  have inj : (#|[set Some j | j : 'I_n]| <= #|codom phi|)%N.
    apply/subset_leq_card/subsetP => o /imsetP [j _ ->].
    have := all_in j; rewrite negb_forall => /existsP [h]; rewrite negbK => /eqP <-.
    exact: codom_f.
  have : (#|codom phi| <= H)%N by rewrite -[X in (_ <= X)%N]card_ord; apply: leq_image_card.
  by move: inj; rewrite card_imset ?card_ord => [a b|? ? []//]; lia.
by apply: (even_sum0 (j := j)) => x; apply: eq_bigr => h _; apply: one.
Qed.

Lemma total_gt0 h x : positive h -> 0 < total h x.
Proof.
by case=> pos q0; rewrite ltr_wpDl ?sumr_ge0 // => i _; apply: ltW.
Qed.

(* What a head adds up, as a sum over the tokens: the query token is None. *)
Definition token_of (with_value : bool) (h : head) (o : option 'I_n) x : F :=
  match o with
  | Some i => weight h i (x i) * (if with_value then value h i (x i) else 1)
  | None => query_weight h * (if with_value then query_value h else 1)
  end.

Lemma token_of_flip v h o j x : o != Some j -> token_of v h o (flip j x) = token_of v h o x.
Proof.
case: o => [i|//] ij; rewrite /= !ffunE; case: eqP => // e.
by rewrite e eqxx in ij.
Qed.

Lemma tokens_of v h x : \sum_o token_of v h o x =
  \sum_i weight h i (x i) * (if v then value h i (x i) else 1)
  + query_weight h * (if v then query_value h else 1).
Proof.
rewrite (bigD1 None) //= addrC; congr (_ + _).
rewrite (reindex_omap Some id) => [|[i|] //]; apply: eq_big => i //.
by rewrite eqxx.
Qed.

Lemma totalE h x : total h x = \sum_o token_of false h o x.
Proof. by rewrite tokens_of mulr1; congr (_ + _); apply: eq_bigr => i _; rewrite mulr1. Qed.

(* Claim: least_depth/parity_heads, lower end. Whatever the weights, fewer than n heads fail. *)
Theorem parity_heads_at_least target H : decided target H -> (n <= H)%N.
Proof.
case=> net [c [pos right]]; rewrite leqNgt; apply/negP => few.
pose all_totals x := \prod_h total (net h) x.
have totals0 x : 0 < all_totals x by apply: prodr_gt0 => h _; apply: total_gt0.
have cancel0 : \sum_x sign x * (output net c x * all_totals x) = 0.
  have outE x : output net c x * all_totals x
      = \sum_h (\prod_l \sum_o token_of (l == h) (net l) o x)
        + c * (\prod_l \sum_o token_of false (net l) o x).
    rewrite mulrDl; congr (_ + _ * _); last by apply: eq_bigr => l _; rewrite totalE.
    rewrite mulr_suml; apply: eq_bigr => h _; rewrite /all_totals (bigD1 h) //= mulrA.
    rewrite [RHS](bigD1 h) //=; congr (_ * _).
      by rewrite eqxx tokens_of /mean mulfVK // gt_eqF ?total_gt0.
    by apply: eq_bigr => l /negbTE lh; rewrite totalE lh.
  under eq_bigr => x _ do rewrite outE mulrDr mulr_sumr mulrCA.
  rewrite big_split /= exchange_big -mulr_sumr big1 => [|h _].
    rewrite add0r products_cancel ?mulr0 // => l o j x oj; exact: token_of_flip.
  by rewrite products_cancel // => l o j x oj; apply: token_of_flip.
pose turned x := (-1) ^+ target * (sign x * (output net c x * all_totals x)).
have turnedE x : turned x = (-1) ^+ (parity x != target) * output net c x * all_totals x.
  rewrite /turned /sign !mulrA.
  by case: (parity x) (target) => [] []; rewrite /= ?mulrNN ?mulr1 ?mul1r.
have terms x : 0 <= turned x.
  rewrite turnedE pmulr_lge0 //; have := right x; case: (_ == _) => /= [pos_x|/negbT].
    by rewrite mul1r ltW.
  by rewrite -leNgt mulN1r oppr_ge0.
pose x0 : bits := [ffun i => target && (i == Ordinal (leq_ltn_trans (leq0n H) few))].
have parity0 : parity x0 = target.
  rewrite /parity /x0; case: (target); last by rewrite big1 // => i _; rewrite ffunE.
  by under eq_bigr => i _ do rewrite ffunE /=; rewrite -big_mkcond big_pred1_eq.
have cancel_turned : \sum_x turned x = 0 by rewrite -mulr_sumr cancel0 mulr0.
have /eqP : turned x0 = 0.
  exact: (psumr_eq0P (fun x _ => terms x) cancel_turned (isT : xpredT x0)).
by rewrite turnedE parity0 eqxx mul1r gt_eqF // mulr_gt0 // right parity0 eqxx.
Qed.

(* --- enough heads --- *)

(* Partial fractions. *)
Lemma fractions (a b : nat -> F) k : {in gtn k &, injective a} -> exists (c : F) (r : nat -> F),
  forall t, (forall m, (m < k)%N -> t + a m != 0) ->
    \prod_(m < k) ((b m - t) / (t + a m)) = \sum_(m < k) r m / (t + a m) + c.
Proof.
elim: k => [|k IH] inj; first by exists 1, (fun=> 0) => t _; rewrite !big_ord0 add0r.
have [|c [r rE]] := IH; first by move=> i j ik jk; apply: inj; rewrite inE ltnW.
pose s m := r m * (-1 + (a k + b k) / (a k - a m)).
pose last_ := (a k + b k) * (c - \sum_(m < k) r m / (a k - a m)).
exists (- c), (fun m => if m == k then last_ else s m) => t t0.
rewrite big_ord_recr big_ord_recr /= eqxx rE => [|m mk]; last exact/t0/ltnW.
have tk : t + a k != 0 by apply: t0.
have -> : \sum_(m < k) (if m == k :> nat then last_ else s m) / (t + a m)
    = \sum_(m < k) (r m / (t + a m) * ((b k - t) / (t + a k))
        + (a k + b k) / (t + a k) * (r m / (a k - a m))).
  apply: eq_bigr => m _; rewrite ltn_eqF ?ltn_ord // /s.
  have tm : t + a m != 0 by apply: t0; apply: ltnW; rewrite ltnS.
  have am : a k - a m != 0.
    rewrite subr_eq0; apply/eqP => /inj; rewrite !inE => e.
    by have := ltn_ord m; rewrite -e ?ltnn // ltnS ltnW.
  by field; rewrite tk tm am.
rewrite big_split /= -mulr_suml -mulr_sumr /last_ mulrDl.
set S := \sum_(_ < _) _; set U := \sum_(_ < _) _.
by field.
Qed.

(* The number of ones. *)
Definition ones x : nat := (\sum_i x i)%N.

(* (1/2 - t)/(t + 1), (3/2 - t)/(t + 2), ...: at a whole t the first t factors are negative. *)
Definition alternating k (t : nat) : F :=
  \prod_(m < k) ((m%:R + 2%:R^-1 - t%:R) / (t%:R + m.+1%:R)).

Lemma alternating_sign k t :
  if odd (minn t k) then alternating k t < 0 else 0 < alternating k t.
Proof.
rewrite /alternating; elim: k => [|k IH]; first by rewrite minn0 big_ord0 ltr01.
have den : 0 < t%:R + k.+1%:R :> F by rewrite -natrD ltr0n addnS.
have half : 0 < 2%:R^-1 :> F by rewrite invr_gt0 ltr0n.
have half1 : 2%:R^-1 < 1 :> F by rewrite invf_lt1 ?ltr0n // ltr1n.
rewrite big_ord_recr /=; case: (leqP t k) => tk.
  have num : 0 < k%:R + 2%:R^-1 - t%:R :> F.
    by rewrite addrAC ltr_wpDl // subr_ge0 ler_nat.
  have -> : minn t k.+1 = minn t k by lia.
  by move: IH; case: (odd _) => IH; [rewrite nmulr_rlt0 | rewrite mulr_gt0]; rewrite ?divr_gt0.
have num : k%:R + 2%:R^-1 - t%:R < 0 :> F.
  rewrite subr_lt0; apply: lt_le_trans (_ : k.+1%:R <= _); last by rewrite ler_nat.
  by rewrite -[k.+1]addn1 natrD ltrD2l.
have neg : (k%:R + 2%:R^-1 - t%:R) / (t%:R + k.+1%:R) < 0 :> F by rewrite pmulr_llt0 ?invr_gt0.
have e1 : minn t k = k by lia.
have -> : minn t k.+1 = k.+1 by lia.
by move: IH; rewrite e1 /=; case: (odd k) => IH /=; [rewrite nmulr_lgt0 | rewrite pmulr_rlt0].
Qed.

(* Head j has denominator c + j + 1 for c ones. What it adds up of values is v: an n-th part of it
   from each bit, and nothing from the query token. *)
Definition inverse (j : nat) (v : F) : head :=
  let zero := (j.+1%:R - 2%:R^-1) / n%:R in
  let weight (b : bool) := if b then 1 + zero else zero in
  Head (fun=> weight) (fun _ b => v / n%:R / weight b) 2%:R^-1 0.

Hypothesis n0 : (0 < n)%N.

Lemma inverse_positive j v : positive (inverse j v).
Proof.
have half : 0 < 2%:R^-1 :> F by rewrite invr_gt0 ltr0n.
have half1 : 2%:R^-1 < 1 :> F by rewrite invf_lt1 ?ltr0n // ltr1n.
have zero : 0 < (j.+1%:R - 2%:R^-1) / n%:R :> F.
  rewrite divr_gt0 ?ltr0n // subr_gt0; apply: lt_le_trans half1 _.
  by rewrite -[1]/(1%:R) ler_nat.
by split=> // i []; rewrite /= ?addr_gt0 ?ltr01.
Qed.

Lemma inverse_total j v x : total (inverse j v) x = (ones x)%:R + j.+1%:R.
Proof.
rewrite /total /ones /=; set z := _ / _.
have -> : \sum_i (if x i then 1 + z else z) = (\sum_i x i)%N%:R + \sum_(i < n) z.
  rewrite natr_sum -big_split; apply: eq_bigr => i _ /=.
  by case: (x i); rewrite /= ?add0r.
rewrite sumr_const card_ord -[z *+ n]mulr_natr -addrA /z mulfVK ?subrK //.
by rewrite pnatr_eq0 -lt0n.
Qed.

Lemma inverse_mean j v x : mean (inverse j v) x = v / ((ones x)%:R + j.+1%:R).
Proof.
have [pos _] := inverse_positive j v.
rewrite /mean inverse_total /= mulr0 addr0; congr (_ / _).
transitivity (\sum_(i < n) v / n%:R).
  by apply: eq_bigr => i _; rewrite mulrC divfK // gt_eqF // (pos i (x i)).
by rewrite sumr_const card_ord -mulr_natr divfK // pnatr_eq0 -lt0n.
Qed.

Lemma ones_leq x : (ones x <= n)%N.
Proof.
rewrite -[X in (_ <= X)%N]card_ord -sum1_card; apply: leq_sum => i _.
by case: (x i).
Qed.

Lemma parity_heads_at_most_pos target H : (n <= H)%N -> decided_by_bits target H.
Proof.
move=> nH.
have [|c [r rE]] := @fractions (fun m => m.+1%:R) (fun m => m%:R + 2%:R^-1) n.
  by move=> i j _ _ /eqP; rewrite eqr_nat eqSS => /eqP.
pose s : F := (-1) ^+ target; pose v h := if (h < n)%N then s * r h else 0.
exists (fun h : 'I_H => inverse h (v h)), (s * c); split.
  by move=> h; split; first exact: inverse_positive.
move=> x; have -> : output (fun h : 'I_H => inverse h (v h)) (s * c) x
    = s * alternating n (ones x).
  rewrite /alternating rE => [|m _]; last by rewrite -natrD pnatr_eq0 addnS.
  rewrite mulrDr mulr_sumr /output; congr (_ + _); under eq_bigr => h _ do rewrite inverse_mean.
  rewrite (big_ord_widen H (fun m => s * (r m / ((ones x)%:R + m.+1%:R)))) //.
  rewrite [RHS]big_mkcond /=; apply: eq_bigr => h _.
  by rewrite /v; case: ifP; rewrite ?mulrA ?mul0r.
have := alternating_sign n (ones x); have -> : minn (ones x) n = ones x.
  by apply/minn_idPl/ones_leq.
rewrite -/(parity x) /s; case: (parity x) (target) => [] [] sign_x; rewrite ?mulN1r ?mul1r //.
- by rewrite oppr_gt0.
- by apply/negbTE; rewrite -leNgt ltW.
by apply/negbTE; rewrite oppr_gt0 -leNgt ltW.
Qed.

End Parity.

Lemma no_bits (F : realFieldType) target H : decided_by_bits F 0 target H.
Proof.
exists (fun=> Head (fun _ _ => 1) (fun _ _ => 0) 1 0), (if target then 0 else 1); split=> [h|x].
  by split=> //; split=> [i b|]; rewrite ltr01.
rewrite /parity big_ord0 /output big1 ?add0r => [|h _].
  by case: target; rewrite ?ltxx ?ltr01.
by rewrite /mean /= mulr0 big1 ?add0r ?mul0r // => i _; rewrite mulr0.
Qed.

Definition parity_heads_value (n : N) : N := n.

Lemma parity_heads_valueE n : parity_heads_value (bin_of_nat n) = bin_of_nat n.
Proof. by []. Qed.

(* Claim: least_depth/parity_heads. One layer of H softmax heads with a linear read-out decides the
   parity of n bits for some weights if and only if H >= n, whichever parity it says by a positive
   output. Values at the bits do: the query token may have none. *)
Theorem parity_heads (F : realFieldType) n target H :
  let enough := (nat_of_bin (parity_heads_value (bin_of_nat n)) <= H)%N in
  (decided F n target H <-> enough) /\ (decided_by_bits F n target H <-> enough).
Proof.
rewrite /= bin_of_natK; have some : (n <= H)%N -> decided_by_bits F n target H.
  by case: n => [_|n nH]; [apply: no_bits | apply: parity_heads_at_most_pos].
split; split=> [|nH]; [exact: parity_heads_at_least | exact/decided_any/some | | exact: some].
by move/decided_any; apply: parity_heads_at_least.
Qed.

(* The other convention: a net says a parity where its output is not negative, so that 0 goes to the
   other side. *)
Definition decided_with_ties (F : realFieldType) n target H :=
  exists (net : 'I_H -> head F n) (c : F), (forall h, positive (net h)) /\
    forall x, (0 <= output net c x) = (parity x == target).

(* Claim: least_depth/parity_heads, where ties are given to the side that is asked for: the same
   number of heads. *)
Corollary parity_heads_ties (F : realFieldType) n target H :
  decided_with_ties F n target H
  <-> (nat_of_bin (parity_heads_value (bin_of_nat n)) <= H)%N.
Proof.
have [<- _] := parity_heads F n (~~ target) H.
pose negated (h : head F n) :=
  Head (weight h) (fun i b => - value h i b) (query_weight h) (- query_value h).
have outE (net : 'I_H -> head F n) c x :
    output (fun h => negated (net h)) (- c) x = - output net c x.
  rewrite /output opprD; congr (_ - _); rewrite -sumrN; apply: eq_bigr => h _.
  rewrite /mean /total /negated /= -mulNr opprD mulrN; congr ((_ - _) / _).
  by rewrite -sumrN; apply: eq_bigr => i _; rewrite mulrN.
have side x : (parity x == ~~ target) = ~~ (parity x == target).
  by case: (parity x) target {outE negated} => [] [].
split=> -[net [c [pos right]]]; exists (fun h => negated (net h)), (- c);
  split=> [h|x]; try exact: (pos h).
  by rewrite outE oppr_gt0 ltNge right side.
by rewrite outE oppr_ge0 leNgt right side negbK.
Qed.

Example three_bits target : decided_by_bits (rat : realFieldType) 3 target 3.
Proof. by apply/(parity_heads _ 3 target 3).2. Qed.
Example three_bits_not_2 target : ~ decided (rat : realFieldType) 3 target 2.
Proof. by move/(parity_heads _ 3 target 2).1. Qed.
Example three_bits_ties target : ~ decided_with_ties (rat : realFieldType) 3 target 2.
Proof. by move/(parity_heads_ties _ 3 target 2). Qed.
