(* One layer must carry half of the sequence: INDEX, counted.

   The reduction is `index_sequence` of theory/hops/one_layer.py: bits at the even positions,
   symbol 2 before the bit asked for, else 0, behind them k - 1 forced hops and the query. That one
   layer of H heads of width m and p bits passes on H (m + 1) sums of p bits stays informal. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.
From Depthlaw Require Import Hops.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* --- the reduction --- *)

(* The token with m tokens before it: pairs (0 or 2, bit), then pairs (3, 2), ..., (k + 1, k),
   then k + 1. *)
Definition index_token (bits : seq bool) (index k m : nat) : nat :=
  let n := size bits in
  if m < n.*2 then
    if odd m then (nth false bits m./2 : nat) else if m./2 == index then 2 else 0
  else if m == n.*2 + k.-1.*2 then k.+1
  else (m - n.*2)./2 + (if odd m then 2 else 3).

Definition index_sequence (bits : seq bool) (index k : nat) : seq nat :=
  mkseq (index_token bits index k) (size bits + k.-1).*2.+1.

(* The tokens at even positions are all that a summary sees; a read-out sees the others too. *)
Definition evens (X : seq nat) : seq nat := [seq nth 0 X j.*2.+1 | j <- iota 0 (size X)./2].
Definition odds (X : seq nat) : seq nat := [seq nth 0 X j.*2 | j <- iota 0 (size X).+1./2].

(* hop_k at the last token is read off the summary and the other tokens, whatever bit is asked. *)
Definition right_on (S : Type) (summary : seq nat -> S) (read : S -> seq nat -> option nat)
    (k : nat) (bits : seq bool) : bool :=
  all (fun index => let X := index_sequence bits index k in
         read (summary (evens X)) (odds X) == hop X k (size X)) (iota 0 (size bits)).

(* The docstring of index_sequence. *)
Example index_sequences :
  index_sequence [:: false; true] 1 1 = [:: 0; 0; 2; 1; 2]
  /\ index_sequence [:: false; true] 1 3 = [:: 0; 0; 2; 1; 3; 2; 4; 3; 4].
Proof. by vm_compute. Qed.

(* --- hop_k asks for every bit --- *)

Lemma find1_unique (T : eqType) (X : seq T) i j :
  2 <= j <= i -> symbol X j.-1 = symbol X i ->
  (forall j', 2 <= j' <= i -> symbol X j'.-1 = symbol X i -> j' = j) -> find1 X i = j.
Proof.
move=> ji eqj uni; case: find1P => [none|j' j'i eqj' _]; last exact: uni.
by move: (none j ji); rewrite eqj eqxx.
Qed.

Section Reduction.

Variables (bits : seq bool) (index k : nat).
Hypotheses (asked : index < size bits) (k1 : 0 < k).
Let n := size bits.
Let X := index_sequence bits index k.

Lemma size_index_sequence : size X = (n + k.-1).*2.+1.
Proof. exact: size_mkseq. Qed.

Lemma symbol_index i : 0 < i <= size X -> symbol X i = Some (index_token bits index k i.-1).
Proof.
rewrite size_index_sequence; case: i => // i /= lt.
by rewrite /symbol [LHS](nth_map 0) ?size_mkseq // nth_mkseq.
Qed.

(* After h < k hops from the last token the walk stands here, at the symbol k + 1 - h. *)
Definition stop (h : nat) : nat := if h == 0 then (n + k.-1).*2.+1 else n.*2 + (k - h).*2.

Lemma stop_symbol h : h < k -> index_token bits index k (stop h).-1 = k.+1 - h.
Proof.
move=> hk; rewrite /stop /index_token -/n; case: eqP => [->|h0].
  have -> : (n + k.-1).*2.+1.-1 = n.*2 + k.-1.*2 by lia.
  by rewrite ltnNge leq_addr eqxx subn0.
have -> : ((n.*2 + (k - h).*2).-1 < n.*2) = false by lia.
have -> : ((n.*2 + (k - h).*2).-1 == n.*2 + k.-1.*2) = false by lia.
have -> : odd (n.*2 + (k - h).*2).-1 by lia.
lia.
Qed.

Lemma bit_le1 m : (nth false bits m : nat) <= 1.
Proof. exact: leq_b1. Qed.

Lemma stop_next h : h.+1 < k -> find1 X (stop h) = stop h.+1.
Proof.
move=> hk; have sN : 0 < stop h <= size X.
  by rewrite size_index_sequence /stop; case: eqP; lia.
have nN : 1 < stop h.+1 <= stop h by rewrite /stop /=; case: eqP; lia.
have sizeX := size_index_sequence.
apply: find1_unique => [//||j ji].
  rewrite !symbol_index; [|lia..]; rewrite stop_symbol; last lia.
  congr Some; rewrite /index_token -/n /stop /=.
  have -> : ((n.*2 + (k - h.+1).*2).-2 < n.*2) = false by lia.
  have -> : ((n.*2 + (k - h.+1).*2).-2 == n.*2 + k.-1.*2) = false by lia.
  have -> : odd (n.*2 + (k - h.+1).*2).-2 = false by lia.
  lia.
rewrite !symbol_index; [|lia..]; rewrite stop_symbol; last lia.
case; rewrite /index_token -/n; have := bit_le1 j.-2./2.
case: ifP => [lt|ge] b1; first by case: ifP => _; [lia | case: ifP => _; lia].
have jN : j <= stop h by lia.
case: eqP => [ej|nej].
  by move: jN; rewrite /stop; case: eqP; lia.
by move: jN; rewrite /stop /=; case: eqP => h0; case: ifP; lia.
Qed.

Lemma stop_last : find1 X (stop k.-1) = index.*2.+2.
Proof.
have sizeX := size_index_sequence.
have sN : index.*2.+2 < stop k.-1 <= size X.
  by rewrite sizeX /stop; case: eqP; move: asked; rewrite -/n; lia.
have two : index_token bits index k (stop k.-1).-1 = 2 by rewrite stop_symbol; lia.
apply: find1_unique => [|| j ji]; first by lia.
  rewrite !symbol_index; [|lia..]; rewrite two /index_token -/n /=.
  have -> : index.*2 < n.*2 by move: asked; rewrite -/n; lia.
  by rewrite odd_double doubleK eqxx.
rewrite !symbol_index; [|lia..]; rewrite two; case; rewrite /index_token -/n.
have := bit_le1 j.-2./2; case: ifP => [lt|ge] b1.
  by case: ifP => [_|oj]; [lia | case: eqP => [ei _|//]; lia].
have jN : j <= stop k.-1 by lia.
case: eqP => [ej|nej].
  by move: jN; rewrite /stop; case: eqP; lia.
by move: jN; rewrite /stop /=; case: eqP => h0; case: ifP; lia.
Qed.

Lemma stops h : h < k -> pointer X h (size X) = stop h.
Proof.
elim: h => [|h IH] hk; first by rewrite size_index_sequence.
by rewrite /pointer iterS -/(pointer _ _ _) IH ?(ltnW hk) // stop_next.
Qed.

(* hop_k at the last token is the bit at the index: the claim's `hops_ask_for_every_bit`, for all
   k, all lengths, all words. *)
Theorem hops_ask_for_every_bit : hop X k (size X) = Some (nth false bits index : nat).
Proof.
have lt : k.-1 < k by rewrite prednK.
have next : pointer X k (size X) = find1 X (pointer X k.-1 (size X)).
  by rewrite /pointer -iterS prednK.
rewrite /hop next stops // stop_last symbol_index.
  rewrite /index_token -/n /=.
  have -> : index.*2.+1 < n.*2 by move: asked; rewrite -/n; lia.
  by rewrite odd_double /= -[uphalf _]/(index.*2.+1./2) -add1n halfD odd_double doubleK.
by rewrite size_index_sequence; move: asked; rewrite -/n; lia.
Qed.

End Reduction.

(* --- counting --- *)

Lemma nth_index_sequence bits index k m : m < (size bits + k.-1).*2.+1 ->
  nth 0 (index_sequence bits index k) m = index_token bits index k m.
Proof. by move=> lt; rewrite nth_mkseq. Qed.

(* What a read-out sees beside the summary does not depend on the bits. *)
Lemma odds_same bits bits' index k : size bits = size bits' ->
  odds (index_sequence bits index k) = odds (index_sequence bits' index k).
Proof.
move=> e; rewrite /odds !size_mkseq e; apply/eq_in_map => j.
rewrite mem_iota leq0n add0n andTb => lt; rewrite !nth_index_sequence ?e; try lia.
by rewrite /index_token e odd_double.
Qed.

(* What a summary sees does not depend on the index. *)
Lemma evens_same bits index index' k :
  evens (index_sequence bits index k) = evens (index_sequence bits index' k).
Proof.
rewrite /evens !size_mkseq; apply/eq_in_map => j.
rewrite mem_iota leq0n add0n andTb => lt; rewrite !nth_index_sequence; try lia.
by rewrite /index_token /= odd_double.
Qed.

Lemma right_onP S (summary : seq nat -> S) read k bits index :
  0 < k -> right_on summary read k bits -> index < size bits ->
  read (summary (evens (index_sequence bits 0 k))) (odds (index_sequence bits index k))
  = Some (nth false bits index : nat).
Proof.
move=> k0 /allP right lt; rewrite (evens_same bits 0 index) -(hops_ask_for_every_bit lt k0).
by apply/eqP/right; rewrite mem_iota.
Qed.

(* Whatever the summary and the read-out: of the words of n bits at most as many are answered at
   every index as there are summaries. So a head whose two sums have p bits each errs at some index
   on all but 2^(2 p) words. *)
Theorem right_words n k (S : finType) (summary : seq nat -> S) read : 0 < k ->
  #|[set w : n.-tuple bool | right_on summary read k w]| <= #|S|.
Proof.
move=> k0; set W := [set w | _].
pose f (w : n.-tuple bool) := summary (evens (index_sequence w 0 k)).
rewrite -(@card_in_imset _ _ f W); first exact: max_card.
move=> w w'; rewrite !inE => right right' same; apply/val_inj/(@eq_from_nth _ false).
  by rewrite !size_tuple.
move=> i iw; have iw' : i < size w' by rewrite size_tuple -(size_tuple w).
have := right_onP k0 right iw; have := right_onP k0 right' iw'.
rewrite -/(f w) -/(f w') same (@odds_same w w') ?size_tuple // => -> [].
by case: (nth _ w i); case: (nth _ w' i).
Qed.

Lemma summaries_at_least n k (S : finType) (summary : seq nat -> S) read : 0 < k ->
  (forall w : n.-tuple bool, right_on summary read k w) -> 2 ^ n <= #|S|.
Proof.
move=> k0 right; have := right_words n summary read k0.
suff -> : [set w : n.-tuple bool | right_on summary read k w] = setT.
  by rewrite cardsT card_tuple card_bool.
by apply/setP => w; rewrite !inE right.
Qed.

(* So many are enough: the summary is the word, the read-out looks for the symbol 2. *)
Lemma summaries_enough n m : 2 ^ n <= m ->
  exists (summary : seq nat -> 'I_m) (read : 'I_m -> seq nat -> option nat),
    forall w : n.-tuple bool, right_on summary read 1 w.
Proof.
move=> nm; pose word (ev : seq nat) := [tuple nth 0 ev i == 1 | i < n].
pose all_words := enum {: n.-tuple bool}.
have small ev : index (word ev) all_words < m.
  have cardW : #|{: n.-tuple bool}| = 2 ^ n by rewrite card_tuple card_bool.
  by apply: leq_trans nm; rewrite -cardW cardE index_mem mem_enum.
exists (fun ev => Ordinal (small ev)).
exists (fun s o => Some (nth false (nth (word [::]) all_words s) (index 2 o) : nat)).
move=> w; apply/allP => i; rewrite mem_iota leq0n add0n andTb size_tuple => ni; cbv zeta.
rewrite (@hops_ask_for_every_bit w i 1) ?size_tuple // nth_index ?mem_enum //.
have wE : word (evens (index_sequence w i 1)) = w.
  apply: eq_from_tnth => j; rewrite tnth_mktuple (tnth_nth false).
  have jn := ltn_ord j; have halfE : (n.*2.+1)./2 = n by clear; lia.
  rewrite /evens size_mkseq size_tuple addn0 halfE (nth_map 0) ?size_iota // nth_iota // add0n.
  rewrite nth_index_sequence ?size_tuple; last by clear -jn; lia.
  rewrite /index_token ?size_tuple; have -> : j.*2.+1 < n.*2 by clear -jn; lia.
  have -> : odd j.*2.+1 by clear; lia.
  have -> : (j.*2.+1)./2 = j by clear; lia.
  by case: (nth _ _ j).
rewrite wE; suff -> : index 2 (odds (index_sequence w i 1)) = i by [].
have halfE : (n.*2.+2)./2 = n.+1 by clear; lia.
have so : size (odds (index_sequence w i 1)) = n.+1.
  by rewrite size_map size_iota size_mkseq size_tuple addn0 halfE.
have oE j : j <= n -> nth 0 (odds (index_sequence w i 1)) j = if (j == i) || (j == n) then 2 else 0.
  move=> jn; rewrite /odds size_mkseq size_tuple addn0 halfE (nth_map 0) ?size_iota //.
  rewrite nth_iota // add0n nth_index_sequence ?size_tuple; last by clear -jn; lia.
  rewrite /index_token ?size_tuple odd_double doubleK ltn_double.
  have -> : n.*2 + 1.-1.*2 = n.*2 by rewrite addn0.
  case: ltnP => lt; first by rewrite [j == n]ltn_eqF ?orbF.
  have -> : j = n by clear -jn lt; lia.
  by rewrite !eqxx orbT.
set o := odds _ in oE so *.
have in_o : 2 \in o by rewrite -[2](_ : nth 0 o i = 2) ?mem_nth ?so ?oE ?eqxx //; lia.
have le_i : index 2 o <= i.
  rewrite leqNgt; apply/negP => /(@before_find _ 0 (pred1 2) o i) /=.
  by rewrite oE ?eqxx //; lia.
have := nth_index 0 in_o; rewrite oE; last by apply: leq_trans le_i _; lia.
case: eqP => [e _ //|_]; rewrite orFb; case: eqP => [e _|//].
by move: le_i; rewrite e leqNgt ni.
Qed.

(* Claim: hops/one_layer_index. For every odd N the (N-1)/2 tokens at even positions need
   2^((N-1)/2) summaries, if hop_1 at token N is to be read off the summary and the other tokens,
   and so many are enough. *)
Theorem one_layer_index N m : odd N ->
  (exists (summary : seq nat -> 'I_m) (read : 'I_m -> seq nat -> option nat),
     forall w : N.-1./2.-tuple bool, right_on summary read 1 w)
  <-> 2 ^ N.-1./2 <= m.
Proof.
move=> _; split=> [[summary [read right]]|]; last exact: summaries_enough.
by rewrite -(card_ord m); apply: summaries_at_least right.
Qed.

(* The sequences have N tokens. *)
Lemma one_layer_tokens N index (w : N.-1./2.-tuple bool) : odd N ->
  size (index_sequence w index 1) = N.
Proof. by move=> oN; rewrite size_mkseq size_tuple addn0; lia. Qed.

(* hop_k for k > 1 needs as many for a word of n bits, in 2 (n + k - 1) + 1 tokens. *)
Theorem hops_index n k (S : finType) (summary : seq nat -> S) read : 0 < k ->
  (forall w : n.-tuple bool, right_on summary read k w) -> 2 ^ n <= #|S|.
Proof. exact: summaries_at_least. Qed.

(* If the summary is H (m + 1) numbers of p bits, then H (m + 1) p >= n = (N - 1)/2. *)
Theorem one_layer_bits n k H m p
    (summary : seq nat -> {ffun 'I_(H * m.+1) -> p.-tuple bool}) read : 0 < k ->
  (forall w : n.-tuple bool, right_on summary read k w) -> n <= H * m.+1 * p.
Proof.
move=> k0 /(hops_index k0); rewrite card_ffun card_tuple card_bool card_ord -expnM.
by rewrite leq_exp2l // mulnC.
Qed.

(* Seven tokens: eight summaries, not seven. *)
Example seven_tokens :
  exists (summary : seq nat -> 'I_8) (read : 'I_8 -> seq nat -> option nat),
    forall w : 3.-tuple bool, right_on summary read 1 w.
Proof. exact/(@one_layer_index 7 8 isT). Qed.
Example seven_tokens_not_7 :
  ~ exists (summary : seq nat -> 'I_7) (read : 'I_7 -> seq nat -> option nat),
    forall w : 3.-tuple bool, right_on summary read 1 w.
Proof. by move/(@one_layer_index 7 7 isT). Qed.

(* 2^((N-1)/2) for odd N. *)
Definition summaries_value (tokens : N) : N := N.pow 2 (N.div2 (N.pred tokens)).

Lemma summaries_valueE N : summaries_value (bin_of_nat N) = bin_of_nat (2 ^ N.-1./2).
Proof.
have div2E n : PeanoNat.Nat.div2 n = n./2.
  by elim/ltn_ind: n => [[|[|n]]] //= IH; rewrite IH.
rewrite /summaries_value !of_nat_bin -Nnat.Nat2N.inj_pred -Nnat.Nat2N.inj_div2 div2E.
by rewrite -(of_nat_exp 2).
Qed.

(* Claim: hops/one_layer_index. m summaries suffice exactly from this number on. *)
Corollary one_layer_index_checked N m : odd N ->
  (exists (summary : seq nat -> 'I_m) (read : 'I_m -> seq nat -> option nat),
     forall w : N.-1./2.-tuple bool, right_on summary read 1 w)
  <-> nat_of_bin (summaries_value (bin_of_nat N)) <= m.
Proof. by rewrite summaries_valueE bin_of_natK; apply: one_layer_index. Qed.

(* Two hops and words of three bits: a summary that is the word, 2^3 of them. *)
Definition word_summary (Y : seq nat) : 3.-tuple bool :=
  [tuple nth 0 Y 0 == 1; nth 0 Y 1 == 1; nth 0 Y 2 == 1].
Definition word_read (s : 3.-tuple bool) (Z : seq nat) : option nat :=
  Some (nth false s (seq.index 2 Z) : nat).

Lemma word_right (w : 3.-tuple bool) : right_on word_summary word_read 2 w.
Proof. by case: w => [[|[] [|[] [|[] []]]]] //= _; vm_compute. Qed.

Example hops_index_met : 2 ^ 3 <= #|(3.-tuple bool : finType)|.
Proof. exact: (hops_index (k := 2) isT word_right). Qed.

(* One head of width 2 and one bit: three sums carry words of three bits, and none of four. *)
Example one_layer_bits_met
    (right := fun n => exists (summary : seq nat -> {ffun 'I_(1 * 3) -> 1.-tuple bool}) read,
      forall w : n.-tuple bool, right_on summary read 2 w) :
  right 3 /\ ~ right 4.
Proof.
split=> [|[summary [read /(one_layer_bits (k := 2) isT)]] //].
pose code (s : 3.-tuple bool) : {ffun 'I_(1 * 3) -> 1.-tuple bool} :=
  [ffun i : 'I_3 => [tuple tnth s i]].
pose word (f : {ffun 'I_(1 * 3) -> 1.-tuple bool}) : 3.-tuple bool :=
  [tuple tnth (f i) ord0 | i < 3].
have codeK s : word (code s) = s by apply: eq_from_tnth => i; rewrite tnth_mktuple ffunE.
exists (code \o word_summary), (word_read \o word) => w.
by move: (word_right w); apply: etrans; apply: eq_all => i /=; rewrite codeK.
Qed.

(* Seven tokens: eight summaries, the number of the claim, and not seven. *)
Example seven_tokens_checked
    (enough := fun m => exists (summary : seq nat -> 'I_m) (read : 'I_m -> seq nat -> option nat),
      forall w : 3.-tuple bool, right_on summary read 1 w) :
  enough 8 /\ ~ enough 7.
Proof.
by split; [exact/(@one_layer_index_checked 7 8 isT) | move/(@one_layer_index_checked 7 7 isT)].
Qed.
