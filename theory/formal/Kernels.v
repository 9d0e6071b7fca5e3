(* Attention matrices that carry a decaying kernel through depth.

   Claim: rank_collapse/decay_kernel (theory/rank_collapse/attention_kernels.py). The Cholesky
   factor is any lower triangular matrix of positive diagonal; that there is no more than one such
   factor is cholesky_unique, and the decaying kernel has one. *)

From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring zify.

Import Order.TTheory GRing.Theory Num.Theory.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.

(* --- the objects --- *)

Section Objects.

Variables (R : rcfType) (n : nat).

Definition lower (L : 'M[R]_n) : Prop := forall i j : 'I_n, (i < j)%N -> L i j = 0.

(* A Cholesky factor of S. *)
Definition cholesky (S L : 'M[R]_n) : Prop :=
  [/\ lower L, forall i, 0 < L i i & L *m L^T = S].

(* a^|i - j|, as e^(-g |i - j|) with a = e^(-g); the identity for a = 0. *)
Definition decay (a : R) : 'M[R]_n := \matrix_(i < n, j < n) a ^+ ((i - j) + (j - i)).

(* The product of the first L matrices, the first one on the right. *)
Fixpoint layers_product (A : nat -> 'M[R]_n) (L : nat) : 'M[R]_n :=
  if L is l.+1 then A l *m layers_product A l else 1%:M.

(* Its factor in closed form. *)
Definition decay_factor (a : R) : 'M[R]_n :=
  \matrix_(i < n, j < n) if (i < j)%N then 0
                 else (if val j == 0%N then 1 else Num.sqrt (1 - a ^+ 2)) * a ^+ (i - j).

End Objects.

Section Kernels.

Variables (R : rcfType) (n : nat).
Implicit Types (L M S : 'M[R]_n) (a b : R).

(* A matrix has at most one Cholesky factor. *)
Theorem cholesky_unique S L M : cholesky S L -> cholesky S M -> L = M.
Proof.
move=> [lowL posL <-] [lowM posM eqLM].
have entry (i j : 'I_n) : \sum_k M i k * M j k = \sum_k L i k * L j k.
  have := congr1 (fun A : 'M_n => A i j) eqLM.
  by rewrite !mxE; under eq_bigr do rewrite mxE; under [RHS]eq_bigr do rewrite mxE.
(* Columns before j agree: then column j does. *)
suff cols j : forall k i : 'I_n, (k < j)%N -> L i k = M i k.
  by apply/matrixP => i k; apply: (cols k.+1).
elim: j => // j IH k i; rewrite ltnS leq_eqVlt => /predU1P[kj|]; last exact: IH.
have split_sum A (lowA : lower A) (i' : 'I_n) :
    \sum_m A i' m * A k m = \sum_(m < n | (m < k)%N) A i' m * A k m + A i' k * A k k.
  rewrite (bigID (fun m : 'I_n => (m < k)%N)) /=; congr (_ + _).
  rewrite (bigD1 k) /= ?ltnn // big1 ?addr0 // => m /andP[mk neq].
  by rewrite (lowA k m) ?mulr0 // ltn_neqAle eq_sym neq leqNgt.
have same (i' : 'I_n) : L i' k * L k k = M i' k * M k k.
  have := entry i' k; rewrite !split_sum //.
  have -> : \sum_(m < n | (m < k)%N) M i' m * M k m = \sum_(m < n | (m < k)%N) L i' m * L k m.
    by apply: eq_bigr => m mk; rewrite !IH // -kj.
  by move/addrI.
have diag : L k k = M k k.
  have := same k; rewrite -!expr2 => /eqP.
  by rewrite eqrXn2 ?ltW // => /eqP.
by have := same i; rewrite diag => /mulIf; apply; rewrite gt_eqF.
Qed.

(* Entries of the closed factor at any two numbers. *)
Definition scale a (j : nat) : R := if j == 0%N then 1 else Num.sqrt (1 - a ^+ 2).
Definition entry a (i j : nat) : R := if (i < j)%N then 0 else scale a j * a ^+ (i - j).

Lemma decay_factorE a (i j : 'I_n) : decay_factor n a i j = entry a i j.
Proof. by rewrite mxE. Qed.

Lemma square_below1 a : 0 <= a -> a < 1 -> 0 < 1 - a ^+ 2.
Proof. by move=> a0 a1; rewrite subr_gt0 expr_lt1. Qed.

Lemma scale_gt0 a j : 0 <= a -> a < 1 -> 0 < scale a j.
Proof.
by move=> a0 a1; rewrite /scale; case: eqP => // _; rewrite sqrtr_gt0 square_below1.
Qed.

Lemma entry_squares a m : 0 <= a -> a < 1 ->
  \sum_(k < m.+1) scale a k ^+ 2 * a ^+ (m - k) ^+ 2 = 1.
Proof.
move=> a0 a1; elim: m => [|m IH].
  by rewrite big_ord_recl big_ord0 /scale /= subnn expr0 !expr1n mulr1 addr0.
rewrite big_ord_recr /= subnn expr0 expr1n mulr1.
have -> : \sum_(k < m.+1) scale a k ^+ 2 * a ^+ (m.+1 - k) ^+ 2 = a ^+ 2.
  rewrite -[RHS]mulr1 -IH mulr_sumr; apply: eq_bigr => k _.
  have -> : a ^+ (m.+1 - k) = a * a ^+ (m - k) by rewrite subSn ?exprS // -ltnS.
  by rewrite exprMn mulrCA.
by rewrite /scale /= sqr_sqrtr ?ltW ?square_below1 // addrC subrK.
Qed.

Lemma entry_product a (i d : nat) : 0 <= a -> a < 1 -> (i < n)%N ->
  \sum_(k < n) entry a i k * entry a (i + d) k = a ^+ d.
Proof.
move=> a0 a1 lt_i; rewrite -[RHS]mulr1 -(entry_squares i a0 a1) mulr_sumr.
rewrite (big_ord_widen n (fun k => a ^+ d * (scale a k ^+ 2 * a ^+ (i - k) ^+ 2))) //.
rewrite [RHS]big_mkcond /=; apply: eq_bigr => k _; rewrite ltnS /entry.
have [ki | ik] := leqP k i; last by rewrite mul0r.
rewrite ltnNge (leq_trans ki (leq_addr _ _)) /= addnC -addnBA // exprD; ring.
Qed.

(* For 0 <= a < 1 the closed form is a Cholesky factor of the decaying kernel. *)
Theorem decay_cholesky a : 0 <= a -> a < 1 -> cholesky (decay n a) (decay_factor n a).
Proof.
move=> a0 a1; split=> [i j ij | i | ].
- by rewrite decay_factorE /entry ij.
- by rewrite decay_factorE /entry ltnn subnn mulr1 scale_gt0.
apply/matrixP => i j; rewrite [LHS]mxE [RHS]mxE.
under eq_bigr do rewrite [_^T _ _]mxE !decay_factorE.
case: (leqP i j) => [/subnKC eq_j | /ltnW/subnKC eq_i].
  have := entry_product (j - i) a0 a1 (ltn_ord i); rewrite eq_j => ->.
  by congr (a ^+ _); lia.
have := entry_product (i - j) a0 a1 (ltn_ord j); rewrite eq_i => sum_eq.
transitivity (a ^+ (i - j)); last by congr (a ^+ _); lia.
by rewrite -sum_eq; apply: eq_bigr => k _; rewrite mulrC.
Qed.

Lemma factor_unit S L : cholesky S L -> L \in unitmx.
Proof.
move=> [lowL posL _]; rewrite unitmxE det_trig.
  by rewrite unitfE; apply/prodf_neq0 => i _; rewrite gt_eqF.
by apply/is_trig_mxP.
Qed.

(* Every entry of L(a) L(b)^-1. *)
Lemma quotient_entry a b (i j : 'I_n) : 0 <= b -> b < 1 ->
  (decay_factor n a *m invmx (decay_factor n b)) i j =
  entry a i j / scale b j - b * (entry a i j.+1 / scale b j.+1).
Proof.
move=> b0 b1; set A := _ *m _.
have AE : A *m decay_factor n b = decay_factor n a.
  by rewrite mulmxKV // (factor_unit (decay_cholesky b0 b1)).
have row (m : nat) : (m <= n)%N -> \sum_k A i k * entry b k m = entry a i m.
  rewrite leq_eqVlt => /predU1P[->|lt_m].
    by rewrite big1 => [|k _]; rewrite /entry ltn_ord ?mulr0.
  have := congr1 (fun M : 'M_n => M i (Ordinal lt_m)) AE; rewrite decay_factorE => <-.
  by rewrite mxE; apply: eq_bigr => k _; rewrite decay_factorE.
have := row j.+1 (ltn_ord j); have := row j (ltnW (ltn_ord j)).
move: (entry a i j) (entry a i j.+1) => x y <- <- {row AE}.
transitivity (\sum_k A i k * (entry b k j / scale b j - b * (entry b k j.+1 / scale b j.+1))).
  rewrite (bigD1 j) //= big1 => [|k kj]; last first.
    rewrite /entry.
    have [lt_kj | lt_jk | /val_inj eq_kj] := ltngtP k j; last by rewrite eq_kj eqxx in kj.
      by rewrite (ltn_trans lt_kj) // !mul0r mulr0 subr0 mulr0.
    rewrite ltnNge lt_jk /= -(subnSK lt_jk) exprS.
    have [sj sj1] := (scale_gt0 j b0 b1, scale_gt0 j.+1 b0 b1).
    have -> : scale b j * (b * b ^+ (k - j.+1)) / scale b j = b * b ^+ (k - j.+1).
      by rewrite mulrAC divff ?gt_eqF // mul1r.
    have -> : scale b j.+1 * b ^+ (k - j.+1) / scale b j.+1 = b ^+ (k - j.+1).
      by rewrite mulrAC divff ?gt_eqF // mul1r.
    by rewrite subrr mulr0.
  rewrite addr0 /entry ltnn ltnSn subnn mulr1 divff ?gt_eqF ?scale_gt0 //.
  by rewrite mul0r mulr0 subr0 mulr1.
rewrite !mulr_suml mulr_sumr -sumrB; apply: eq_bigr => k _.
by rewrite mulrBr -!mulrA [A i k * (b * _)]mulrCA.
Qed.

Lemma quotient_lower a b : 0 <= b -> b < 1 ->
  lower (decay_factor n a *m invmx (decay_factor n b)).
Proof.
move=> b0 b1 i j ij; rewrite quotient_entry // /entry ij (ltn_trans ij) //.
by rewrite !mul0r mulr0 subr0.
Qed.

Lemma quotient_ge0 a b (i j : 'I_n) : 0 <= b -> b <= a -> a < 1 ->
  0 <= (decay_factor n a *m invmx (decay_factor n b)) i j.
Proof.
move=> b0 ba a1; have a0 := le_trans b0 ba; have b1 := le_lt_trans ba a1.
rewrite quotient_entry // /entry; have sj l := scale_gt0 l b0 b1.
have sa l := scale_gt0 l a0 a1; have [sa0 sb0] := (fun l => ltW (sa l), fun l => ltW (sj l)).
have [ij|ji] := ltnP i j; first by rewrite (ltn_trans ij) // !mul0r mulr0 subr0.
have [ij1|lt_ji] := ltnP i j.+1.
  by rewrite mul0r mulr0 subr0 divr_ge0 ?mulr_ge0 ?exprn_ge0 ?sa0 ?sb0.
rewrite -(subnSK lt_ji) exprS.
set x := a ^+ _; have x0 : 0 <= x by rewrite exprn_ge0.
have -> : scale a j * (a * x) / scale b j - b * (scale a j.+1 * x / scale b j.+1) =
  x * (a * (scale a j / scale b j) - b * (scale a j.+1 / scale b j.+1)).
  by move: (scale b j)^-1 (scale b j.+1)^-1 => p q; ring.
rewrite mulr_ge0 // subr_ge0 ler_pM //.
  by rewrite divr_ge0 ?sa0 ?sb0.
rewrite /scale /=; case: eqP => _; last by [].
rewrite divff ?oner_neq0 // ler_pdivrMr ?sqrtr_gt0 ?square_below1 // mul1r.
by rewrite ler_wsqrtr // lerB // lerXn2r.
Qed.

End Kernels.

(* A kernel that decays by half per position has a factor, over every real closed field. *)
Example decay_kernel_met (R : rcfType) n :
  exists L : 'M[R]_n, cholesky (decay n (2%:R^-1 : R)) L.
Proof.
exists (decay_factor n 2%:R^-1); apply: decay_cholesky; first by rewrite invr_ge0 ler0n.
by rewrite invf_lt1 ?ltr0n ?ltr1n.
Qed.

(* At a = 3/5 the root is 4/5, and the factor of two tokens can be written out: no other
   exists. *)
Example cholesky_unique_met (R : rcfType) :
  decay_factor 2 (3%:R / 5%:R : R) =
  \matrix_(i < 2, j < 2) if i == ord0 then (j == ord0)%:R
                         else (if j == ord0 then 3%:R else 4%:R) / 5%:R.
Proof.
have a0 : 0 <= 3%:R / 5%:R :> R by rewrite divr_ge0 ?ler0n.
have a1 : 3%:R / 5%:R < 1 :> R by rewrite ltr_pdivrMr ?ltr0n // mul1r ltr_nat.
apply: cholesky_unique (decay_cholesky 2 a0 a1) _; split=> [i j | i | ].
- by rewrite mxE; case: i j => [[|[]] ?] // [[|[]] ?].
- by rewrite mxE; case: i => [[|[]] ?] //=; rewrite ?ltr01 ?divr_gt0 ?ltr0n.
apply/matrixP=> i j; rewrite !mxE big_ord_recl big_ord1 !mxE.
case: i j => [[|[]] ?] // [[|[]] ?] //=; rewrite /bump /= ?expr0 ?expr1.
all: by field.
Qed.

(* Claim: rank_collapse/decay_kernel. For decays that rise from 0 with depth and stay below 1 (g_l
   falls), whatever their Cholesky factors are called: every L_(l+1) L_l^-1 is lower triangular
   without a negative entry, and the product of the first l of them carries the identity to the l-th
   kernel. Any number of tokens and of layers. *)
Theorem decay_kernel (R : rcfType) n (a : nat -> R) (L A : nat -> 'M[R]_n) :
  a 0%N = 0 -> (forall l, a l <= a l.+1) -> (forall l, a l < 1) ->
  (forall l, cholesky (decay n (a l)) (L l)) -> (forall l, A l = L l.+1 *m invmx (L l)) ->
  (forall l, lower (A l) /\ forall i j, 0 <= A l i j) /\
  forall l, layers_product A l *m (layers_product A l)^T = decay n (a l).
Proof.
move=> a0 up below factor AE.
have ge0 l : 0 <= a l by elim: l => [|l IH]; [rewrite a0 | apply: le_trans (up l)].
have LE l : L l = decay_factor n (a l).
  exact: cholesky_unique (factor l) (decay_cholesky n (ge0 l) (below l)).
split=> l; first by rewrite AE !LE; split=> [|i j]; [apply: quotient_lower | apply: quotient_ge0].
have one : L 0%N = 1%:M.
  apply: (cholesky_unique (factor 0%N)); rewrite a0; split=> [i j ij | i | ].
  - by rewrite mxE; case: eqP => // eq_ij; rewrite eq_ij ltnn in ij.
  - by rewrite mxE eqxx ltr01.
  rewrite trmx1 mulmx1; apply/matrixP => i j; rewrite !mxE expr0n; congr (_%:R).
  by rewrite addn_eq0 !subn_eq0 -eqn_leq.
have -> : layers_product A l = L l.
  elim: l => [|l IH] /=; first by rewrite one.
  by rewrite IH AE mulmxKV // (factor_unit (factor l)).
by case: (factor l).
Qed.

(* Decays l/(l + 1): 0, 1/2, 2/3 and so on. *)
Example decay_kernel_carried (R : rcfType) n :
  let L l := decay_factor n (l%:R / l.+1%:R : R) in
  let A l := L l.+1 *m invmx (L l) in
  (forall l, lower (A l) /\ forall i j, 0 <= A l i j) /\
  forall l, layers_product A l *m (layers_product A l)^T = decay n (l%:R / l.+1%:R).
Proof.
move=> L A; have S0 m : 0 < m.+1%:R :> R by rewrite ltr0n.
pose a l : R := l%:R / l.+1%:R.
have below l : a l < 1 by rewrite ltr_pdivrMr // mul1r ltr_nat.
apply: (decay_kernel (a := a) (L := L)) => // [ | l | l]; first exact: mul0r.
  rewrite ler_pdivrMr // mulrAC ler_pdivlMr // -!natrM ler_nat; lia.
by apply: decay_cholesky; rewrite ?divr_ge0 ?ler0n.
Qed.
