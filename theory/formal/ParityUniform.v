(* Parity by two softmax layers of one head, with weights and positions for all lengths at once.

   Claim: least_depth/parity_uniform (theory/least_depth/uniform_parity.py). Over Coq's real
   numbers and on their three axioms alone. Exact arithmetic; no layer norm, no feed-forward net.
   The net below is the one whose matrices tests/theory/test_least_depth_parity.py runs. It is a
   transformer (Bridges.uniform_transformer). *)

From Coq Require Import NArith ZArith Reals Lra Lia.
From mathcomp Require Import all_ssreflect.
From Depthlaw Require Import Softmax.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope R_scope.

Local Notation "\sum_ ( i < n ) F" := (\big[Rplus/0]_(i < n) F) : R_scope.

(* --- the objects --- *)

(* The word stands between a start and an end token. *)
Inductive token := Start | End | Bit of bool.

(* A head: its scores W_Q W_K^T and its values W_V W_O. *)
Record head d := Head { qk : mat d d; value : mat d d }.

(* Tokens and places have vectors of their own, which know no length. *)
Record net d := Net
  { token_vector : token -> 'I_d -> R;
    place_vector : nat -> 'I_d -> R;
    layer1 : head d;
    layer2 : head d;
    readout : 'I_d -> R }.

(* One head with a residual connection. With a causal mask no token sees a later one. *)
Definition attention n d (causal : bool) (h : head d) (X : mat n d) : mat n d :=
  fun i k =>
    let score (j : 'I_n) := mul (mul X (qk h)) (tr X) i j in
    let weight (j : 'I_n) := if causal && (i < j)%N then 0 else exp (score j) in
    X i k + (\sum_(j < n) weight j * mul X (value h) j k) / \sum_(j < n) weight j.

Definition embedding d (T : net d) (w : seq bool) : mat (size w).+2 d :=
  fun j k => token_vector T (nth End (Start :: map Bit w) j) k + place_vector T j k.
Arguments embedding : clear implicits.

(* What is read, linearly, at the end token. *)
Definition output d (T : net d) (causal : bool) (w : seq bool) : R :=
  \sum_(k < d)
    attention causal (layer2 T) (attention causal (layer1 T) (embedding d T w)) ord_max k *
    readout T k.

(* ln(j + 1), the number whose exponential is j + 1: Coq's own ln rests on the excluded middle. *)
Lemma log_exists j : {x : R | exp x = INR j.+1}.
Proof.
have cont : continuity (exp - fct_cte (INR j.+1))%F.
  apply: continuity_minus; first exact: derivable_continuous derivable_exp.
  exact: derivable_continuous (derivable_const _).
have pos : 0 <= INR j by apply: pos_INR.
have range : 0 <= INR j.+1 by apply: pos_INR.
have signs : (exp - fct_cte (INR j.+1))%F 0 * (exp - fct_cte (INR j.+1))%F (INR j.+1) <= 0.
  have := exp_ge1 (INR j.+1); rewrite /minus_fct /fct_cte exp_0 S_INR => big.
  nra.
have [x [_ root]] := IVT_cor _ _ _ cont range signs.
by exists x; move: root; rewrite /minus_fct /fct_cte => root; lra.
Qed.

Definition log j : R := proj1_sig (log_exists j).

(* A matrix by its entries: row, column, number. *)
Definition entry (i k : nat) (x : R) : nat * nat * R := (i, k, x).
Definition entries d (s : seq (nat * nat * R)) : mat d d :=
  fun i k => \big[Rplus/0]_(e <- s | (e.1.1 == i) && (e.1.2 == k)) e.2.

(* Coordinates 0 to 3 say zero, one, start, end; 4 to 8 belong to the place j; layer 1 writes into
   9 and 10, layer 2 into 11. In layer 1 the end token scores a token at place j by -2 ln(j + 1),
   minus 3 ln(N) for a zero and 5 ln(N) for itself; values are (j + 1)^2 - [start] and [start]. In
   layer 2 it scores by s (2 a j - b j^2), with a and b what layer 1 wrote; values are (-1)^j. *)
Definition uniform_net (s : R) : net 12 :=
  {| token_vector t k :=
       INR (k == match t with Bit b => nat_of_bool b | Start => 2%N | End => 3%N end :> nat);
     place_vector j k :=
       nth 0 [:: 0; 0; 0; 0; log j; (INR j + 1) ^ 2; INR j; INR j ^ 2; (-1) ^ j] k;
     layer1 :=
       {| qk := entries [:: entry 0 4 (-2); entry 1 4 (-2); entry 2 4 (-2); entry 3 4 (-2);
                            entry 4 0 (-3); entry 4 3 (-5)];
          value := entries [:: entry 5 9 1; entry 2 9 (-1); entry 2 10 1] |};
     layer2 :=
       {| qk := entries [:: entry 9 6 (2 * s); entry 10 7 (- s)];
          value := entries [:: entry 8 11 1] |};
     readout k := INR (k == 11%N :> nat) |}.

(* The claim's number: 7/10. *)
Definition margin_value : N * N := (7, 10)%num.

(* --- matrices by their entries --- *)

Lemma sum_at d (F : 'I_d.+1 -> R) a : (a < d.+1)%N ->
  \sum_(i < d.+1) (if a == i :> nat then F i else 0) = F (inord a).
Proof.
move=> lt; rewrite (bigD1 (inord a)) //= inordK // eqxx big1 ?Rplus_0_r // => i ne.
case: eqP => // ai; case/eqP: ne; apply: val_inj.
by rewrite /= inordK.
Qed.

Lemma entries_cons d e (s : seq (nat * nat * R)) (i k : 'I_d) :
  entries (e :: s) i k =
  (if e.1.1 == i :> nat then (if e.1.2 == k :> nat then e.2 else 0) else 0) + entries s i k.
Proof.
rewrite /entries big_cons; case: (e.1.1 == i) => /=; last by rewrite Rplus_0_l.
by case: (e.1.2 == k); rewrite ?Rplus_0_l.
Qed.

Lemma row_entries d (s : seq (nat * nat * R)) (x : 'I_d.+1 -> R) (k : 'I_d.+1) :
  all (fun e => (e.1.1 < d.+1)%N) s ->
  \sum_(i < d.+1) x i * entries s i k =
  \big[Rplus/0]_(e <- s | e.1.2 == k) (x (inord e.1.1) * e.2).
Proof.
elim: s => [_|e s IH /= /andP[lt ins]].
  by rewrite big_nil big1 // => i _; rewrite /entries big_nil Rmult_0_r.
rewrite big_cons -(IH ins); transitivity (\sum_(i < d.+1)
    ((if e.1.1 == i :> nat then (if e.1.2 == k :> nat then x i * e.2 else 0) else 0) +
     x i * entries s i k)).
  apply: eq_bigr => i _; rewrite entries_cons; case: (e.1.1 == i :> nat); last ring.
  by case: (e.1.2 == k :> nat); ring.
rewrite sum_add (sum_at (fun i => if e.1.2 == k :> nat then x i * e.2 else 0) lt).
by case: ifP => _ //; rewrite Rplus_0_l.
Qed.

Lemma form_entries d (s : seq (nat * nat * R)) (x y : 'I_d.+1 -> R) :
  all (fun e => (e.1.1 < d.+1)%N && (e.1.2 < d.+1)%N) s ->
  \sum_(k < d.+1) (\sum_(i < d.+1) x i * entries s i k) * y k =
  \big[Rplus/0]_(e <- s) (x (inord e.1.1) * e.2 * y (inord e.1.2)).
Proof.
move=> ins; have rows : all (fun e : nat * nat * R => (e.1.1 < d.+1)%N) s.
  by apply: sub_all ins => e /andP[].
transitivity (\sum_(k < d.+1) \big[Rplus/0]_(e <- s)
    (if e.1.2 == k :> nat then x (inord e.1.1) * e.2 * y k else 0)).
  apply: eq_bigr => k _; rewrite row_entries // big_mkcond big_distrl /=.
  by apply: eq_bigr => e _; case: ifP => _; rewrite ?Rmult_0_l.
rewrite exchange_big /=; elim: s ins {rows} => [|e s IH /= /andP[/andP[_ lt] ins]].
  by rewrite !big_nil.
by rewrite !big_cons IH // sum_at.
Qed.

(* --- the logarithm --- *)

Lemma exp_log j : exp (log j) = INR j.+1.
Proof. exact: proj2_sig (log_exists j). Qed.

Lemma exp_strict x y : x < y -> exp x < exp y.
Proof.
move=> xy; have -> : y = x + (y - x) by ring.
rewrite exp_plus -{1}[exp x]Rmult_1_r; apply: Rmult_lt_compat_l; first exact: exp_pos.
by have := exp_ge1 (y - x); lra.
Qed.

(* It is no other number: log j is ln(j + 1). *)
Lemma log_unique j x : exp x = INR j.+1 -> x = log j.
Proof.
rewrite -exp_log => same; have [lt|[//|lt]] := Rtotal_order x (log j).
  by have := exp_strict lt; lra.
by have := exp_strict lt; lra.
Qed.

Lemma log_range j : 0 <= log j <= INR j.
Proof.
have e := exp_log j; rewrite S_INR in e; have pos := pos_INR j; split.
  apply: Rnot_lt_le => neg; have := exp_strict neg; rewrite exp_0; lra.
by have := exp_ge1 (log j); lra.
Qed.

Lemma log0 : log 0 = 0.
Proof. by have := log_range 0; rewrite /=; lra. Qed.

Lemma exp_pow x n : exp (INR n * x) = exp x ^ n.
Proof.
elim: n => [|n IH]; first by rewrite Rmult_0_l exp_0.
by rewrite S_INR Rmult_plus_distr_r Rmult_1_l exp_plus IH /=; ring.
Qed.

Lemma exp_neg_log n j : exp (- INR n * log j) = / INR j.+1 ^ n.
Proof. by rewrite Ropp_mult_distr_l_reverse exp_Ropp exp_pow exp_log. Qed.

(* --- what the net computes --- *)

(* Of a word with N tokens: its number of ones c, what zeros and the end token add to it, and the
   sum of the softmax weights in layer 1. *)
Definition ones (w : seq bool) : nat := count id w.
Definition excess (w : seq bool) : R :=
  let N := INR (size w).+2 in
  \sum_(j < size w) (if nth false w j then 0 else / N ^ 3) + / N ^ 5.
Definition denominator (w : seq bool) : R :=
  let N := INR (size w).+2 in
  1 + \sum_(j < size w) / INR j.+2 ^ 2 * (if nth false w j then 1 else / N ^ 3) + / N ^ 7.

(* The softmax weight of place i in layer 2, before it is divided. *)
Definition final_weight (s : R) (w : seq bool) (i : nat) : R :=
  exp (s * (2 * ((INR (ones w) + excess w) / denominator w) * INR i -
            / denominator w * INR i ^ 2)).

Lemma sum_ones w : \sum_(j < size w) (if nth false w j then 1 else 0) = INR (ones w).
Proof.
rewrite -(big_mkord xpredT (fun j => if nth false w j then 1 else 0)).
rewrite -(big_nth false xpredT (fun b : bool => if b then 1 else 0)) /ones.
elim: w => [|[] w IH]; rewrite ?big_nil // big_cons IH; last by rewrite Rplus_0_l.
by rewrite -[count id (true :: w)]/(count id w).+1 S_INR; ring.
Qed.

Section Net.

Variables (s : R) (w : seq bool) (causal : bool).
Local Notation N := (size w).+2.
Let X := embedding 12 (uniform_net s) w.
Let Y := attention causal (layer1 (uniform_net s)) X.

Lemma at_last (j : 'I_N) (x : R) :
  (if causal && ((ord_max : 'I_N) < j)%N then 0 else x) = x.
Proof. by rewrite ltnNge -ltnS ltn_ord andbF. Qed.

Lemma in12 a : (a < 12)%N -> (inord a : 'I_12) = a :> nat. Proof. exact: inordK. Qed.

Let seen (j : nat) : token := nth End (Start :: map Bit w) j.

Lemma last_seen : nth End (map Bit w) (size w) = End.
Proof. by rewrite nth_default // size_map. Qed.

(* The sum over the start token, the bits and the end token. *)
Lemma sum_ends (F : nat -> R) :
  \sum_(j < N) F j = F 0%N + \sum_(j < size w) F j.+1 + F (size w).+1.
Proof. by rewrite big_ord_recl big_ord_recr /= Rplus_assoc. Qed.

Let score (j : nat) : R :=
  -2 * log j + log (size w).+1 * (match seen j with Bit false => -3 | End => -5 | _ => 0 end).

(* Scores of layer 1 at the end token. *)
Lemma score1 (j : 'I_N) :
  mul (mul X (qk (layer1 (uniform_net s)))) (tr X) ord_max j = score j.
Proof.
rewrite /mul /tr form_entries // !big_cons big_nil /entry /= /X /embedding /= !in12 //=.
rewrite last_seen /= /score -/(seen j); by case: (seen j) => [||[]] /=; ring.
Qed.

Lemma weight_start : exp (score 0) = 1.
Proof. by rewrite /score /= log0 -exp_0; congr exp; ring. Qed.

Lemma weight_bit (j : 'I_(size w)) :
  exp (score j.+1) =
  / INR j.+2 ^ 2 * (if nth false w j then 1 else / INR (size w).+2 ^ 3).
Proof.
rewrite /score /seen [nth _ _ _](nth_map false) // exp_plus -(exp_neg_log 2).
congr (_ * _); case: (nth false w j); first by rewrite Rmult_0_r exp_0.
by rewrite -exp_neg_log; congr exp; rewrite /=; ring.
Qed.

Lemma weight_end : exp (score (size w).+1) = / INR (size w).+2 ^ 7.
Proof.
rewrite /score /seen [nth _ _ _]last_seen -exp_neg_log; congr exp.
by rewrite /=; ring.
Qed.

Lemma sum_weights : \sum_(j < N) exp (score j) = denominator w.
Proof.
rewrite (sum_ends (fun j => exp (score j))) weight_start weight_end; congr (_ + _ + _).
by apply: eq_bigr => j _; rewrite weight_bit.
Qed.

(* What layer 1 writes into a column. *)
Lemma layer1_writes k : (k < 12)%N ->
  Y ord_max (inord k) = X ord_max (inord k) +
    (\sum_(j < N) exp (score j) *
       \big[Rplus/0]_(e <- [:: entry 5 9 1; entry 2 9 (-1); entry 2 10 1] | e.1.2 == k)
         (X j (inord e.1.1) * e.2)) / denominator w.
Proof.
move=> k12; rewrite /Y /attention -sum_weights; congr (_ + _ / _).
  apply: eq_bigr => j _; rewrite at_last score1 /mul row_entries // in12 //.
by apply: eq_bigr => j _; rewrite at_last score1.
Qed.

Lemma stays i k : (k < 9)%N -> Y i (inord k) = X i (inord k).
Proof.
move=> k9; have none j : mul X (value (layer1 (uniform_net s))) j (inord k) = 0.
  rewrite /mul row_entries // in12 ?(ltn_trans k9) // !big_cons big_nil /=.
  by move: k k9; do 9?case=> //.
rewrite /Y /attention [X in _ + X / _]big1 => [|j _]; last by rewrite none Rmult_0_r.
by rewrite /Rdiv Rmult_0_l Rplus_0_r.
Qed.

Lemma INR_pos j : 0 < INR j.+1. Proof. by apply: lt_0_INR; lia. Qed.

Lemma writes_count : Y ord_max (inord 9) = (INR (ones w) + excess w) / denominator w.
Proof.
rewrite layer1_writes // /X /embedding /= !in12 //= last_seen /= !Rplus_0_l; congr (_ / _).
pose F j := exp (score j) * ((INR j + 1) ^ 2 - if seen j is Start then 1 else 0).
transitivity (\sum_(j < N) F j).
  apply: eq_bigr => j _; rewrite /F !big_cons big_nil /= !in12 //= -/(seen j); congr (_ * _).
  by case: (seen j) => [||[]] /=; ring.
rewrite sum_ends /F /excess -sum_ones -Rplus_assoc -sum_add weight_start weight_end.
have -> : seen 0 = Start by []. have -> : seen (size w).+1 = End by exact: last_seen.
congr (_ + _).
  rewrite -[RHS]Rplus_0_l; congr (_ + _); first by rewrite /=; ring.
  apply: eq_bigr => j _; rewrite weight_bit.
  have -> : seen j.+1 = Bit (nth false w j) by rewrite /seen /= (nth_map false).
  have := INR_pos j.+1; rewrite -S_INR; case: (nth false w j) => pos; first by field; lra.
  by have := INR_pos (size w).+1; move=> pos'; field; lra.
by have := INR_pos (size w).+1; rewrite -S_INR => pos; field; lra.
Qed.

Lemma writes_one : Y ord_max (inord 10) = / denominator w.
Proof.
rewrite layer1_writes // /X /embedding /= !in12 //= last_seen /= !Rplus_0_l.
rewrite -[RHS]Rmult_1_l; congr (_ / _).
pose F j := exp (score j) * if seen j is Start then 1 else 0.
transitivity (\sum_(j < N) F j).
  apply: eq_bigr => j _; rewrite /F !big_cons big_nil /= !in12 //= -/(seen j); congr (_ * _).
  by case: (seen j) => [||[]] /=; ring.
rewrite sum_ends /F weight_start.
have -> : seen 0 = Start by []. have -> : seen (size w).+1 = End by exact: last_seen.
rewrite big1 => [|j _]; first by ring.
have -> : seen j.+1 = Bit (nth false w j) by rewrite /seen /= (nth_map false).
exact: Rmult_0_r.
Qed.

Lemma writes_nothing : Y ord_max (inord 11) = 0.
Proof.
rewrite layer1_writes // /X /embedding /= !in12 //= last_seen /= !Rplus_0_l.
rewrite big1 => [|j _]; first exact: Rmult_0_l.
by rewrite !big_cons big_nil /= Rmult_0_r.
Qed.

(* Scores of layer 2 at the end token. *)
Lemma score2 (j : 'I_N) :
  exp (mul (mul Y (qk (layer2 (uniform_net s)))) (tr Y) ord_max j) = final_weight s w j.
Proof.
rewrite /mul /tr form_entries // !big_cons big_nil /entry /=.
rewrite writes_count writes_one !stays // /X /embedding /= !in12 //=.
rewrite /final_weight /Rdiv; congr exp; case: (nth End _ _) => [||[]] /=; ring.
Qed.

(* The output is the mean of (-1)^i under the weights of layer 2. *)
Lemma outputE : output (uniform_net s) causal w =
  (\sum_(i < N) final_weight s w i * (-1) ^ i) / \sum_(i < N) final_weight s w i.
Proof.
rewrite /output (eq_bigr (fun k : 'I_12 => if 11%N == k :> nat then
  attention causal (layer2 (uniform_net s)) Y ord_max k else 0)) => [|k _]; last first.
  by rewrite /= [_ == 11%N]eq_sym; case: (11%N == k :> nat); rewrite /= ?Rmult_1_r ?Rmult_0_r.
rewrite (sum_at (attention causal (layer2 (uniform_net s)) Y ord_max)) // /attention.
rewrite writes_nothing Rplus_0_l; congr (_ / _).
  apply: eq_bigr => j _; rewrite at_last score2; congr (_ * _).
  rewrite /mul row_entries // in12 // !big_cons big_nil /= stays // /X /embedding /= !in12 //=.
  by case: (nth End _ _) => [||[]] /=; ring.
by apply: eq_bigr => j _; rewrite at_last score2.
Qed.

End Net.

(* --- sums that fall off from a peak --- *)

Lemma sum_const n x : \sum_(j < n) x = INR n * x.
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 Rmult_0_l.
by rewrite big_ord_recr [in LHS]/= IH S_INR; ring.
Qed.

Lemma geometric_le q n : 0 <= q < 1 -> \sum_(m < n) q ^ m <= / (1 - q).
Proof.
move=> [q0 q1]; have closed : (1 - q) * (\sum_(m < n) q ^ m) = 1 - q ^ n.
  elim: n => [|n IH]; first by rewrite big_ord0 /=; ring.
  by rewrite big_ord_recr [in LHS]/= Rmult_plus_distr_l IH /=; ring.
apply: (Rmult_le_reg_l (1 - q)); first lra.
by rewrite closed Rinv_r; last lra; have := pow_le q n q0; lra.
Qed.

Lemma peak_sum (F : nat -> R) c n B q : 0 <= B -> 0 <= q < 1 -> (c < n)%N ->
  (forall m, F (c + m.+1)%N <= B * q ^ m) ->
  (forall m, (m < c)%N -> F (c - m.+1)%N <= B * q ^ m) ->
  \sum_(i < n) F i <= F c + 2 * (B / (1 - q)).
Proof.
move=> B0 q01 cn after before; rewrite -(subnKC cn) big_split_ord big_ord_recr.
have low : \sum_(i < c) F i <= B / (1 - q).
  rewrite (reindex_inj rev_ord_inj) /=.
  apply: (@Rle_trans _ (\sum_(m < c) B * q ^ m)); first by apply: sum_le => m; apply: before.
  by rewrite -sum_scale; apply: Rmult_le_compat_l => //; apply: geometric_le.
have high : \sum_(i < n - c.+1) F (c.+1 + i)%N <= B / (1 - q).
  apply: (@Rle_trans _ (\sum_(m < n - c.+1) B * q ^ m)).
    by apply: sum_le => m; rewrite addSnnS; apply: after.
  by rewrite -sum_scale; apply: Rmult_le_compat_l => //; apply: geometric_le.
apply: (@Rle_trans _ (B / (1 - q) + F c + B / (1 - q))); last lra.
by apply: Rplus_le_compat => //; apply: Rplus_le_compat_r.
Qed.

Lemma sign_odd n : (-1) ^ n = if odd n then -1 else 1.
Proof. by elim: n => //= n ->; case: (odd n) => /=; ring. Qed.

(* The terms other than the one at the peak may all have the wrong sign. *)
Lemma signed_ge n (F : nat -> R) c : (forall i, 0 <= F i) -> (c < n)%N ->
  2 * F c - \sum_(i < n) F i <= (-1) ^ c * (\sum_(i < n) F i * (-1) ^ i).
Proof.
move=> F0 cn; suff : 2 * F c <= \sum_(i < n) F i * (1 + (-1) ^ c * (-1) ^ i).
  rewrite (eq_bigr (fun i : 'I_n => F i + (-1) ^ c * (F i * (-1) ^ i))) => [|i _]; last by ring.
  by rewrite sum_add -sum_scale; lra.
have signs i : 0 <= F i * (1 + (-1) ^ c * (-1) ^ i).
  by apply: Rmult_le_pos => //; rewrite !sign_odd; case: (odd c); case: (odd i); lra.
have := @le_sum n (fun i => F i * (1 + (-1) ^ c * (-1) ^ i)) (Ordinal cn) (fun i => signs i).
by rewrite /= sign_odd; case: (odd c); lra.
Qed.

(* --- the bounds on what layer 1 writes --- *)

Section Bounds.

Variable w : seq bool.
Let n := size w.
Let N := INR n.+2.
Let e := excess w.
Let D := denominator w.

Lemma N_ge2 : 2 <= N.
Proof. by rewrite /N !S_INR; have := pos_INR n; lra. Qed.

Lemma N_pow_pos k : 0 < / N ^ k.
Proof. by apply: Rinv_0_lt_compat; apply: pow_lt; have := N_ge2; lra. Qed.

Lemma N_pow_le k l : (k <= l)%N -> / N ^ l <= / N ^ k.
Proof.
move=> kl; have := N_ge2 => N2; apply: Rinv_le_contravar; first by apply: pow_lt; lra.
by apply: Rle_pow; [lra | apply/leP].
Qed.

Lemma excess_range : 0 <= e <= (N - 1) * / N ^ 3.
Proof.
have [p3 p5] := (N_pow_pos 3, N_pow_pos 5); split.
  apply: Rplus_le_le_0_compat; last exact: Rlt_le.
  by apply: sum_ge0 => j; case: (nth _ _ _); [lra | exact: Rlt_le].
rewrite /e /excess -/n -/N; have le5 : / N ^ 5 <= / N ^ 3 by apply: N_pow_le.
have : \sum_(j < n) (if nth false w j then 0 else / N ^ 3) <= INR n * / N ^ 3.
  by rewrite -sum_const; apply: sum_le => j; case: (nth _ _ _); lra.
have -> : N - 1 = INR n + 1 by rewrite /N !S_INR; ring.
lra.
Qed.

Lemma denominator_le : D <= 1 + \sum_(j < n) / INR j.+2 ^ 2 + / N ^ 7.
Proof.
rewrite /D /denominator -/n -/N; apply: Rplus_le_compat_r; apply: Rplus_le_compat_l.
apply: sum_le => j; have p : 0 < / INR j.+2 ^ 2.
  by apply: Rinv_0_lt_compat; apply: pow_lt; apply: INR_pos.
rewrite -[X in _ <= X]Rmult_1_r; apply: Rmult_le_compat_l; first exact: Rlt_le.
by case: (nth _ _ _); [lra | rewrite -Rinv_1; apply: (@N_pow_le 0 3)].
Qed.

Lemma denominator_ge1 : 1 <= D.
Proof.
rewrite /D /denominator -/n -/N; have p7 := N_pow_pos 7; have p3 := N_pow_pos 3.
suff : 0 <= \sum_(j < n) / INR j.+2 ^ 2 * (if nth false w j then 1 else / N ^ 3) by lra.
apply: sum_ge0 => j; apply: Rmult_le_pos; last by case: (nth _ _ _); lra.
by apply: Rlt_le; apply: Rinv_0_lt_compat; apply: pow_lt; apply: INR_pos.
Qed.

End Bounds.

(* From above, 1/j^2 <= 1/(j - 1/2) - 1/(j + 1/2); the first terms stay as they are. *)
Lemma squares_le n : \sum_(j < n.+2) / INR j.+2 ^ 2 <= 163 / 252 - / (INR n + 7 / 2).
Proof.
elim: n => [|n IH]; first by rewrite !big_ord_recr big_ord0 /=; lra.
rewrite big_ord_recr; have pos := pos_INR n.
apply: Rle_trans (Rplus_le_compat_r _ _ _ IH) _; rewrite !S_INR; move: (INR n) pos => x x0.
have -> : x + 1 + 1 + 1 + 1 = x + 4 by ring.
suff : / (x + 4) ^ 2 <= / (x + 7 / 2) - / (x + 1 + 7 / 2) by lra.
have -> : / (x + 7 / 2) - / (x + 1 + 7 / 2) = / ((x + 7 / 2) * (x + 9 / 2)) by field; lra.
by apply: Rinv_le_contravar; nra.
Qed.

(* D/(1 - 2 e) stays below 1.6469; the argument of the claim has pi^2/6 = 1.6449. *)
Lemma sharp w : denominator w <= 16469 / 10000 * (1 - 2 * excess w).
Proof.
have [_ le_e] := excess_range w; have le_D := denominator_le w.
apply: (@Rle_trans _ (16469 / 10000 * (1 - 2 * ((INR (size w).+2 - 1) * / INR (size w).+2 ^ 3))));
  last lra.
apply: Rle_trans le_D _; have le73 := @N_pow_le w 3 7 isT; move: le73 {le_e}.
case: (size w) => [|[|n]].
- by rewrite big_ord0 /=; lra.
- by rewrite big_ord_recr big_ord0 /=; lra.
have := squares_le n; set S := \sum_(j < _) _ => le_S.
have -> : INR n.+4 = INR n + 4 by rewrite !S_INR; ring.
have pos := pos_INR n; move: (INR n) pos S le_S => x x0 S le_S le73.
have half : / (x + 4) <= / (x + 7 / 2) by apply: Rinv_le_contravar; lra.
have i4 : / (x + 4) <= / 4 by apply: Rinv_le_contravar; lra.
have i0 : 0 < / (x + 4) by apply: Rinv_0_lt_compat; lra.
have -> : (x + 4 - 1) * / (x + 4) ^ 3 = / (x + 4) ^ 2 - / (x + 4) ^ 3 by field; lra.
move: le73; rewrite -!pow_inv; move: (/ (x + 4)) i0 i4 half => i i0 i4 half.
have sq : i ^ 2 <= i * / 4 by rewrite /=; nra.
by have cube : 0 <= i ^ 3; [apply: pow_le; lra | lra].
Qed.

(* --- the margin --- *)

(* e^-(4/1.6469) = 0.08814. *)
Lemma exp_sharp : exp (- (40000 / 16469)) <= 1763 / 20000.
Proof.
have [|_] := @below_exp_iter 17 1000018530316 (40000 / 16469 / 2 ^ 17).
  by split=> //; have := exp_ge1 (40000 / 16469 / 2 ^ 17); lra.
have -> : 2 ^ 17 * (40000 / 16469 / 2 ^ 17) = 40000 / 16469 by field.
set c := iter _ _ _; have {c}-> : c = 11345066947414%Z by vm_compute.
rewrite exp_Ropp; have := exp_pos (40000 / 16469); move: (exp _) => x x0 le.
by apply: (Rmult_le_reg_r x) => //; rewrite Rinv_l; lra.
Qed.

(* From the peak at c the score falls by s/D (d^2 - 2 e d) in d steps. *)
Lemma weight_from_peak s w i (d := INR i - INR (ones w)) :
  final_weight s w i =
  final_weight s w (ones w) * exp (- (s / denominator w * (d ^ 2 - 2 * excess w * d))).
Proof.
have D1 := denominator_ge1 w; rewrite /final_weight -exp_plus; congr exp.
by rewrite /d; field; lra.
Qed.

Section Margin.

Variable w : seq bool.
Let N := (size w).+2.
Let c := ones w.
Let e := excess w.
Let D := denominator w.
Let F := final_weight 4 w.

Lemma ones_lt : (c < N)%N. Proof. by apply: ltnW; rewrite ltnS ltnS; apply: count_size. Qed.

(* The terms fall at least as fast as those of a geometric series. *)
Lemma falls d m : Rabs d = INR m + 1 ->
  exp (- (4 / D * (d ^ 2 - 2 * e * d))) <= 1763 / 20000 * ((1763 / 20000) ^ 3) ^ m.
Proof.
move=> abs; have D1 := denominator_ge1 w; have le_D := sharp w; have [e0 _] := excess_range w.
rewrite -/D -/e in D1 le_D e0; have m0 := pos_INR m.
have sq : d ^ 2 = (INR m + 1) ^ 2 by rewrite -abs pow2_abs.
have lin : 2 * e * d <= 2 * e * (INR m + 1) ^ 2.
  have le : d <= INR m + 1 by rewrite -abs; apply: Rle_abs.
  by apply: Rmult_le_compat_l; [lra | nra].
have m2 : INR m <= INR m ^ 2.
  by case: (m) => [|k]; [rewrite /=; lra | rewrite S_INR; have := pos_INR k; nra].
have share : 40000 / 16469 <= 4 / D * (1 - 2 * e).
  apply: (Rmult_le_reg_r D); first lra.
  have -> : 4 / D * (1 - 2 * e) * D = 4 * (1 - 2 * e) by field; lra.
  lra.
apply: (@Rle_trans _ (exp (INR (3 * m).+1 * - (40000 / 16469)))).
  apply: exp_mono; rewrite S_INR mult_INR; set k := 4 / D in share *.
  have k0 : 0 < k by rewrite /k; apply: Rdiv_lt_0_compat; lra.
  have : k * (1 - 2 * e) * (INR m + 1) ^ 2 <= k * (d ^ 2 - 2 * e * d).
    rewrite Rmult_assoc; apply: Rmult_le_compat_l; first lra.
    by rewrite sq; lra.
  have : 40000 / 16469 * (INR m + 1) ^ 2 <= k * (1 - 2 * e) * (INR m + 1) ^ 2.
    by apply: Rmult_le_compat_r => //; apply: pow2_ge_0.
  have -> : INR 3 = 3 by rewrite /=; ring.
  have : (INR m + 1) ^ 2 >= 3 * INR m + 1 by nra.
  nra.
rewrite exp_pow -pow_mult; have E0 := Rlt_le _ _ (exp_pos (- (40000 / 16469))).
apply: Rmult_le_compat => //; [exact: pow_le | exact: exp_sharp |].
by apply: pow_incr; split=> //; apply: exp_sharp.
Qed.

Lemma weight_pos i : 0 < F i. Proof. exact: exp_pos. Qed.

(* In layer 2 the place c, the number of ones, holds at least 17/20 of the attention. *)
Lemma attention_at_count : \sum_(i < N) F i <= 20 / 17 * F c.
Proof.
have Fc := weight_pos c; have near i m : Rabs (INR i - INR c) = INR m + 1 ->
    F i <= F c * (1763 / 20000) * ((1763 / 20000) ^ 3) ^ m.
  move=> at_m; rewrite /F weight_from_peak [X in _ <= X]Rmult_assoc.
  by apply: Rmult_le_compat_l; [exact: Rlt_le | exact: falls].
apply: Rle_trans (peak_sum (c := c) (B := F c * (1763 / 20000)) (q := (1763 / 20000) ^ 3)
  _ _ _ _ _) _.
- lra.
- lra.
- exact: ones_lt.
- move=> m; apply: near; rewrite plus_INR S_INR; have := pos_INR m => m0.
  by rewrite Rabs_pos_eq; lra.
- move=> m mc; apply: near; rewrite minus_INR; last by apply/leP.
  by rewrite S_INR; have := pos_INR m => m0; rewrite Rabs_left1; lra.
lra.
Qed.

Lemma margin causal : 7 / 10 <= (-1) ^ c * output (uniform_net 4) causal w.
Proof.
rewrite outputE; set T := \sum_(i < _) final_weight 4 w i.
set S := \sum_(i < _) _ * _.
have T0 : 0 < T by apply: (@sum_gt0 N (fun i => F i) ord0) => i; apply: weight_pos.
have := signed_ge (fun i => Rlt_le _ _ (weight_pos i)) ones_lt; have := attention_at_count.
rewrite -/T -/S => le_T le_S; apply: (Rmult_le_reg_r T) => //.
have -> : (-1) ^ c * (S / T) * T = (-1) ^ c * S by field; lra.
lra.
Qed.

End Margin.

Lemma place_bound j (k : 'I_12) : Rabs (place_vector (uniform_net 4) j k) <= (INR j + 1) ^ 2.
Proof.
have [l0 lj] := log_range j; have j0 := pos_INR j.
case: k => [k lt]; rewrite /= Rmult_1_r.
do 9?[case: k lt => [|k] lt /=]; rewrite ?Rabs_R0; try nra.
all: try by rewrite Rabs_pos_eq; nra.
- by rewrite sign_odd; case: odd; rewrite ?Rabs_Ropp Rabs_R1; nra.
by case: k lt => [|k] lt; rewrite ?nth_nil Rabs_R0; nra.
Qed.

Lemma margin_valueE : fraction margin_value.1 margin_value.2 = 7 / 10.
Proof. by []. Qed.

(* Claim: least_depth/parity_uniform. One net of two softmax layers of one head each, with a causal
   mask or none: its output is at least 7/10 on every word of any length with an even number of
   ones, and at most -7/10 on every other word. Its positions grow no faster than (j + 1)^2. The
   claim's object itself; the word of no bits is right too. *)
Theorem parity_uniform (T := uniform_net 4) (m := fraction margin_value.1 margin_value.2) :
  (forall j k, Rabs (place_vector T j k) <= (INR j + 1) ^ 2) /\
  (forall causal w, if odd (count id w) then output T causal w <= - m else m <= output T causal w).
Proof.
split=> [|causal w]; first exact: place_bound.
have -> : m = 7 / 10 by exact: margin_valueE.
by rewrite /T; have := margin w causal; rewrite /ones sign_odd; case: (odd _) => le; lra.
Qed.

(* --- the mask, and other constants --- *)

(* One word of one bit. *)
Example one_bit causal : output (uniform_net 4) causal [:: true] <= - (7 / 10).
Proof. by have [_ /(_ causal [:: true])] := parity_uniform; rewrite margin_valueE. Qed.

(* A mask changes nothing, since the end token stands last. *)
Lemma mask_changes_nothing s w : output (uniform_net s) true w = output (uniform_net s) false w.
Proof. by rewrite !outputE. Qed.

Lemma two_le_sum n (F : nat -> R) a : (forall i, 0 <= F i) -> (a.+2 < n)%N ->
  F a + F a.+2 <= \sum_(i < n) F i.
Proof.
move=> F0 lt; have an : (a < n)%N by apply: ltn_trans lt; apply: ltnW.
rewrite (bigD1 (Ordinal an)) //= (bigD1 (Ordinal lt)) /=; last first.
  by rewrite -val_eqE /= eqn_leq ltnNge leqnSn.
have rest : 0 <= \big[Rplus/0]_(i < n | (i != Ordinal an) && (i != Ordinal lt)) F i.
  by apply: (big_ind (Rle 0)) => [|x y ? ?|i _]; [lra | lra | apply: F0].
apply: Rplus_le_compat_l; rewrite -[X in X <= _]Rplus_0_r; exact: Rplus_le_compat_l.
Qed.

(* The two places beside an even number of ones count against it. *)
Lemma margin_le w causal g : ~~ odd (ones w) -> (0 < ones w)%N ->
  g <= exp (- (4 / denominator w * (1 + 2 * excess w))) ->
  output (uniform_net 4) causal w <= 1 - 17 / 5 * g.
Proof.
set c := ones w => even c0 le_g; have D1 := denominator_ge1 w; have [e0 _] := excess_range w.
have Fc := weight_pos w c; have beside i : INR i - INR c = 1 \/ INR i - INR c = -1 ->
    final_weight 4 w c * g <= final_weight 4 w i.
  move=> one; rewrite [X in _ <= X]weight_from_peak -/c; apply: Rmult_le_compat_l; first lra.
  apply: Rle_trans le_g _; apply: exp_mono; apply: Ropp_le_contravar; apply: Rmult_le_compat_l.
    by apply: Rlt_le; apply: Rdiv_lt_0_compat; lra.
  by case: one => ->; lra.
rewrite outputE; have le_T := attention_at_count w; rewrite -/c in le_T.
set T := \sum_(i < _) final_weight 4 w i in le_T *; set S := \sum_(i < _) _ * _.
have T0 : 0 < T.
  by apply: (@sum_gt0 _ (fun i => final_weight 4 w i) ord0) => i; apply: weight_pos.
suff le_S : S <= T - 4 * (final_weight 4 w c * g).
  apply: (Rmult_le_reg_r T) => //; have -> : S / T * T = S by field; lra.
  have [g0|g0] := Rle_or_lt 0 g; last first.
    have : S <= T; last by nra.
    by apply: sum_le => i; have := weight_pos w i; rewrite sign_odd; case: (odd i); nra.
  by have := Rmult_le_compat_r g _ _ g0 le_T; lra.
pose U := \sum_(i < (size w).+2) final_weight 4 w i * (1 - (-1) ^ i).
have ST : S + U = T.
  rewrite /S /T -sum_add; apply: eq_bigr => i _; ring.
have pos i : 0 <= final_weight 4 w i * (1 - (-1) ^ i).
  by apply: Rmult_le_pos; [apply/Rlt_le/weight_pos | rewrite sign_odd; case: (odd i); lra].
have cn : (c.-1.+2 < (size w).+2)%N by rewrite (ltn_predK c0) ltnS ltnS; apply: count_size.
have : final_weight 4 w c.-1 * (1 - (-1) ^ c.-1) +
       final_weight 4 w c.-1.+2 * (1 - (-1) ^ c.-1.+2) <= U := two_le_sum pos cn.
have cc : INR c = INR c.-1 + 1 by rewrite -S_INR (ltn_predK c0).
rewrite (ltn_predK c0) !sign_odd /= -[odd c.-1]negbK -oddS (ltn_predK c0) even.
have := @beside c.-1 ltac:(right; lra); have := @beside c.+1 ltac:(left; rewrite S_INR; lra).
lra.
Qed.

(* From below, 1/j^2 >= 1/j - 1/(j + 1). *)
Lemma squares_ge n :
  1 / 4 + 1 / 9 + 1 / 16 + 1 / 25 + 1 / 36 + 1 / 7 - / (INR n + 7) <=
  \sum_(j < n.+1.+4) / INR j.+2 ^ 2.
Proof.
elim: n => [|n IH]; first by rewrite !big_ord_recr big_ord0 /=; lra.
rewrite big_ord_recr; have pos := pos_INR n.
apply: Rle_trans (Rplus_le_compat_r _ _ _ IH); rewrite !S_INR; move: (INR n) pos => x x0.
have -> : x + 1 + 1 + 1 + 1 + 1 + 1 + 1 = x + 7 by ring.
suff : / (x + 7) - / (x + 1 + 7) <= / (x + 7) ^ 2 by lra.
have -> : / (x + 7) - / (x + 1 + 7) = / ((x + 7) * (x + 8)) by field; lra.
by apply: Rinv_le_contravar; nra.
Qed.

Lemma denominator_ge w : all id w -> 1 + \sum_(j < size w) / INR j.+2 ^ 2 <= denominator w.
Proof.
move=> /all_nthP all_ones; rewrite /denominator; set S := \sum_(j < _) _ * _.
have -> : S = \sum_(j < size w) / INR j.+2 ^ 2.
  by apply: eq_bigr => j _; rewrite all_ones // Rmult_1_r.
by have := N_pow_pos w 7; lra.
Qed.

Lemma excess_ones w : all id w -> excess w = / INR (size w).+2 ^ 5.
Proof.
move=> /all_nthP all_ones; rewrite /excess big1 ?Rplus_0_l // => j _.
by rewrite all_ones.
Qed.

(* e^-2.461 = 0.08535, and 17/5 of it is more than 29/100. *)
Lemma exp_246 : 2133 / 25000 <= exp (- (2461 / 1000)).
Proof.
have [|_] := @below_exp_iter 16 999962448120 (- (2461 / 1000) / 2 ^ 16).
  by split=> //; have := exp_ge1 (- (2461 / 1000) / 2 ^ 16); lra.
have -> : 2 ^ 16 * (- (2461 / 1000) / 2 ^ 16) = - (2461 / 1000) by field.
set c := iter _ _ _; have {c}-> : c = 85345612484%Z by vm_compute.
lra.
Qed.

(* With 71/100 in place of 7/10 the theorem is false, at 200 ones. *)
Lemma margin_not_71 causal : output (uniform_net 4) causal (nseq 200 true) < 71 / 100.
Proof.
have ones200 : ones (nseq 200 true) = 200%N by rewrite /ones count_nseq.
apply: (@Rle_lt_trans _ (1 - 17 / 5 * (2133 / 25000))); last lra.
apply: margin_le; rewrite ?ones200 //; apply: Rle_trans exp_246 _; apply: exp_mono.
have all200 : all id (nseq 200 true) by rewrite all_nseq.
have := denominator_ge all200; rewrite excess_ones // size_nseq.
have := squares_ge 195; have -> : INR 195 = 195 by rewrite INR_IZR_INZ.
have -> : INR 202 = 202 by rewrite INR_IZR_INZ.
set S := \sum_(j < _) _ => le_S le_D; have D0 : 0 < denominator (nseq 200 true) by lra.
apply: Ropp_le_contravar; apply: (Rmult_le_reg_r (denominator (nseq 200 true))) => //.
set D := denominator _ in le_D D0 *.
have -> : 4 / D * (1 + 2 * / 202 ^ 5) * D = 4 * (1 + 2 * / 202 ^ 5).
  by field; lra.
lra.
Qed.

(* The claim's control: with scores three quarters as large the theorem is false at six ones. *)
Lemma control_fails causal : output (uniform_net 3) causal (nseq 6 true) < 7 / 10.
Proof.
set w := nseq 6 true; have all6 : all id w by [].
have low := denominator_ge all6; have high := denominator_le w; have e5 := excess_ones all6.
rewrite !big_ord_recr big_ord0 /= in low high e5; set D := denominator w in low high.
set e := excess w in e5.
have ratio i : final_weight 3 w i = final_weight 3 w 6 *
    exp (- (3 / D * ((INR i - INR 6) ^ 2 - 2 * e * (INR i - INR 6)))) := weight_from_peak 3 w i.
have F0 : 0 < final_weight 3 w 6 by apply: exp_pos.
have D0 : 0 < D by lra.
have [k_low k_high] : 99 / 50 <= 3 / D <= 1999 / 1000.
  have k3 : 3 / D * D = 3 by field; lra.
  by split; apply: (Rmult_le_reg_r D) => //; rewrite k3; lra.
have near i : INR i - INR 6 = 1 \/ INR i - INR 6 = -1 ->
    final_weight 3 w 6 / 9 <= final_weight 3 w i.
  move=> one; rewrite [X in _ <= X]ratio; apply: Rmult_le_compat_l; first lra.
  apply: (@Rle_trans _ (exp (- (1 + 1)))).
    rewrite exp_Ropp exp_plus; have := exp_le_3; have := exp_pos 1; move: (exp 1) => x x0 x3.
    by apply: Rinv_le_contravar; nra.
  by apply: exp_mono; case: one => ->; nra.
have far i : INR i - INR 6 <= -2 -> final_weight 3 w i <= final_weight 3 w 6 / 20.
  move=> two; rewrite [X in X <= _]ratio; apply: Rmult_le_compat_l; first lra.
  apply: (@Rle_trans _ (exp (- (7 / 2 + 7 / 2)))).
    apply: exp_mono; apply: Ropp_le_contravar; set d := INR i - INR 6 in two *.
    have : 4 <= d ^ 2 - 2 * e * d by have e0 : 0 <= e by [lra]; have : 0 <= e * - d by [nra]; nra.
    by move: (d ^ 2 - 2 * e * d) (3 / D) k_low => x k k_low x4; nra.
  rewrite exp_Ropp exp_plus; have := exp_ge1 (7 / 2) => e8; apply: Rinv_le_contravar; nra.
rewrite outputE; set T := \sum_(i < _) final_weight 3 w i; set S := \sum_(i < _) _ * _.
have T0 : 0 < T.
  by apply: (@sum_gt0 _ (fun i => final_weight 3 w i) ord0) => i; apply: exp_pos.
apply: (Rmult_lt_reg_r T) => //; have -> : S / T * T = S by field; lra.
rewrite /S /T !big_ord_recr !big_ord0 [nat_of_ord _]/=.
have pos i : 0 < final_weight 3 w i by apply: exp_pos.
have := pos 3%nat; have := pos 1%nat.
have := near 5%nat ltac:(right; rewrite /=; lra); have := near 7%nat ltac:(left; rewrite /=; lra).
have := far 0%nat ltac:(rewrite /=; lra); have := far 2%nat ltac:(rewrite /=; lra).
have := far 4%nat ltac:(rewrite /=; lra).
by rewrite /=; lra.
Qed.
