(* k-hop retrieval: pointers add up, and a causal hard-attention net that doubles them.

   The objects are those of theory/hops/pointers.py and theory/hops/hop_nets.py (`causal_net`):
   positions 1, ..., N, position 0 is the start token, symbols are 0, ..., A - 1, a head attends to
   the visible key at the least doubled circular distance. That a cosine orders keys as the
   distance of angles does, and that a softmax comes near hard attention, stays informal. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* --- the task --- *)

Section Task.

Variable T : eqType.
Implicit Type X : seq T.

(* X_i for i = 1, ..., N; nothing at the start token. *)
Definition symbol X (i : nat) : option T := nth None (None :: map Some X) i.

(* find^1(i) = max({0} u {j <= i : X_(j-1) = X_i}), where j - 1 is a position, so j >= 2. *)
Definition find1 X (i : nat) : nat :=
  foldr maxn 0 [seq j <- iota 2 i.-1 | symbol X j.-1 == symbol X i].

(* find^k and hop_k. *)
Definition pointer X (k i : nat) : nat := iter k (find1 X) i.
Definition hop X (k i : nat) : option T := symbol X (pointer X k i).

Lemma find1E X i :
  find1 X i = \max_(2 <= j < i.+1 | symbol X j.-1 == symbol X i) j.
Proof. by rewrite /find1 foldrE big_filter /index_iota subSS subn1. Qed.

Variant find1_spec X i : nat -> Prop :=
  | NoMatch of (forall j, 2 <= j <= i -> symbol X j.-1 != symbol X i) : find1_spec X i 0
  | LastMatch j of 2 <= j <= i & symbol X j.-1 = symbol X i
      & (forall j', j < j' <= i -> symbol X j'.-1 != symbol X i) : find1_spec X i j.

Lemma find1P X i : find1_spec X i (find1 X i).
Proof.
rewrite find1E.
have [/hasP [j0 j0in j0eq]|/hasPn none] :=
    boolP (has (fun j => symbol X j.-1 == symbol X i) (index_iota 2 i.+1)).
  pose P j := (2 <= j <= i) && (symbol X j.-1 == symbol X i).
  have exP : exists j, P j.
    by exists j0; rewrite /P j0eq andbT; move: j0in; rewrite mem_index_iota ltnS.
  have ubP j : P j -> j <= i by case/andP=> /andP[].
  case: (ex_maxnP exP ubP) => m /andP [mi /eqP meq] mmax.
  have -> : \max_(2 <= j < i.+1 | symbol X j.-1 == symbol X i) j = m.
    apply/eqP; rewrite eqn_leq; apply/andP; split.
      rewrite big_seq_cond; apply/bigmax_leqP_seq => j _ /andP [jin jeq].
      by apply: mmax; rewrite /P jeq andbT; move: jin; rewrite mem_index_iota ltnS.
    rewrite (@leq_bigmax_seq _ (index_iota 2 i.+1) _ (fun j => j) m) //.
      by rewrite mem_index_iota ltnS.
    exact/eqP.
  apply: LastMatch => // j /andP [mj ji]; apply/negP => jeq.
  have /mmax : P j by rewrite /P jeq andbT ji andbT; case/andP: mi; lia.
  by rewrite leqNgt mj.
rewrite big_seq_cond big1 => [|j /andP [jin jeq]]; last first.
  by move/negP: (none j jin); rewrite jeq.
by apply: NoMatch => j jin; apply: none; rewrite mem_index_iota ltnS.
Qed.

Lemma find1_le X i : find1 X i <= i.
Proof. by case: find1P => // j /andP []. Qed.

Lemma pointer_le X k i : pointer X k i <= i.
Proof. by elim: k => //= k; apply/leq_trans/find1_le. Qed.

Lemma symbol_some X i : 0 < i <= size X -> exists2 x, symbol X i = Some x & x \in X.
Proof.
case: i => // i /= ltiX; case: X ltiX => // x0 X ltiX.
exists (nth x0 (x0 :: X) i); last exact: mem_nth.
by rewrite /symbol [LHS](nth_map x0).
Qed.

(* Claim: hops/doubling. find^a after find^b is find^(a+b), on every sequence of every alphabet. *)
Theorem find_add X a b i : pointer X (a + b) i = pointer X a (pointer X b i).
Proof. exact: iterD. Qed.

(* One lookup of a token's own pointer doubles the pointer and adds the hops found there. *)
Theorem find_double X a i : pointer X a.*2 i = pointer X a (pointer X a i).
Proof. by rewrite -addnn find_add. Qed.

Lemma hop_add X a b i : hop X (a + b) i = hop X a (pointer X b i).
Proof. by rewrite /hop find_add. Qed.

End Task.

(* The docstrings of pointers.py: "abab" and "ababab" with a = 0, b = 1. *)
Example find1_abab : [seq find1 [:: 0; 1; 0; 1] i | i <- iota 1 4] = [:: 0; 0; 2; 3].
Proof. by vm_compute. Qed.
Example find2_ababab :
  [seq pointer [:: 0; 1; 0; 1; 0; 1] 2 i | i <- iota 1 6] = [:: 0; 0; 0; 2; 3; 4].
Proof. by vm_compute. Qed.
(* Hops do not multiply. *)
Example find_not_mul :
  pointer [:: 0; 1; 0; 1; 0; 1; 0; 1] (2 * 3) 7 != pointer [:: 0; 1; 0; 1; 0; 1; 0; 1] 2
    (pointer [:: 0; 1; 0; 1; 0; 1; 0; 1] 3 7).
Proof. by vm_compute. Qed.

(* --- hard attention --- *)

(* Doubled distance of two angles, in steps of which a full turn has `period`. *)
Definition circular (query key period : nat) : nat :=
  let apart := (query + (period - key)) %% period in (minn apart (period - apart)).*2.

(* The visible token j <= i at the least distance; None where two tie. *)
Definition attend (distance : nat -> nat) (i : nat) : option nat :=
  let visible := iota 0 i.+1 in
  let distances := map distance visible in
  if [seq j <- visible | all (leq (nth 0 distances j)) distances] is [:: j]
  then Some j else None.

(* What a token holds: position, symbol, the previous symbol, find^(2^t), and its answer. *)
Record state := State
  { place : nat; own : option nat; before : option nat; aim : nat; says : option nat }.

(* One layer, one head: all that a token learns is the state of the one token it attends to. Ties
   leave a token as it is; none occurs below. *)
Definition layer (distance : state -> state -> nat) (update : state -> state -> state)
    (st : nat -> state) (i : nat) : state :=
  if attend (fun j => distance (st i) (st j)) i is Some j then update (st i) (st j) else st i.

(* --- the construction of sanford2024, Appendix F.4, with its errors as options --- *)

Section Net.

(* `spacing` N steps lie between two symbols: 1 as printed, 2 repaired. `hopped` and `digits`:
   the answer starts with find^1 or find^0, and digit t adds the pointer of layer t + 2. *)
Variables (spacing : nat) (hopped : bool) (digits : nat).
Variables (A : nat) (X : seq nat).
Let N := size X.

Definition lookup (target : state -> nat) (a b : state) : nat :=
  circular (target a) (place b) N.+1.

Definition angle (x : option nat) (offset : nat) : nat := spacing * N * odflt 0 x + offset.

Definition last_match (a b : state) : nat :=
  match place b with
  | 0 => N.*2.-1
  | 1 => (spacing * N * A + N).*2
  | _ => circular (angle (own a) (place a)) (angle (before b) (place b)) (spacing * N * A)
  end.

Definition fetch_previous (a b : state) : state :=
  State (place a) (own a) (own b) (aim a) (says a).
Definition point (a b : state) : state :=
  State (place a) (own a) (before a) (place b) (if hopped then own b else own a).
Definition double (digit : bool) (a b : state) : state :=
  State (place a) (own a) (before a) (aim b) (if digit then says b else says a).

Definition start (i : nat) : state := State i (symbol X i) None 0 (symbol X i).

Definition step (l : nat) : (nat -> state) -> nat -> state :=
  match l with
  | 0 => layer (lookup (fun a => (place a).-1)) fetch_previous
  | 1 => layer last_match point
  | t.+2 => layer (lookup aim) (double (odd (digits %/ 2 ^ t)))
  end.

Fixpoint net (L : nat) : nat -> state := if L is l.+1 then step l (net l) else start.

End Net.

(* The repaired construction starts from find^1 and adds the digits of k - 1. *)
Definition repaired (k A : nat) (X : seq nat) (L i : nat) : option nat :=
  says (net 2 true k.-1 A X L i).

(* The printed induction step adds pointers of half the length that is needed: digit t of k, t > 0,
   adds find^(2^(t-1)). The spacing is repaired, so that only this error shows. *)
Definition printed (k A : nat) (X : seq nat) (L i : nat) : option nat :=
  says (net 2 (odd k) k./2 A X L i).

(* --- the net attends where it should --- *)

Lemma attend_unique d i j :
  j <= i -> (forall j', j' <= i -> j' != j -> d j < d j') -> attend d i = Some j.
Proof.
move=> ji least; rewrite /attend.
suff -> : [seq x <- iota 0 i.+1 | all (leq (nth 0 (map d (iota 0 i.+1)) x)) (map d (iota 0 i.+1))]
          = [:: j] by [].
have jin : j \in iota 0 i.+1 by rewrite mem_iota add0n ltnS.
rewrite -(filter_pred1_uniq (iota_uniq 0 i.+1) jin).
apply: eq_in_filter => x; rewrite mem_iota leq0n add0n ltnS andTb => xi.
rewrite (nth_map 0) ?size_iota // nth_iota // add0n all_map [RHS]/=.
have [->|xj] := eqVneq x j.
  apply/allP => j'; rewrite mem_iota leq0n add0n ltnS andTb => j'i /=.
  by have [->|j'j] := eqVneq j' j => //; apply/ltnW/least.
by apply/negbTE/negP => /allP /(_ j jin) /=; apply/negP; rewrite -ltnNge; apply: least.
Qed.

Lemma circularE q k p : q < p -> k < p ->
  circular q k p = (minn (q - k + (k - q)) (p - (q - k + (k - q)))).*2.
Proof.
move=> qp kp; rewrite /circular; have [kq|qk] := leqP k q.
  have -> : q + (p - k) = q - k + p by lia.
  by rewrite modnDr modn_small; lia.
by rewrite modn_small; lia.
Qed.

Section Correct.

Variables (hopped : bool) (digits A : nat) (X : seq nat).
Let N := size X.
Let run := net 2 hopped digits A X.

Lemma lookupE target (st : nat -> state) i :
  i <= N -> (forall j, j <= i -> place (st j) = j) -> target (st i) <= i ->
  attend (fun j => lookup X target (st i) (st j)) i = Some (target (st i)).
Proof.
move=> iN places ti; apply: attend_unique => // j ji; rewrite /lookup !places //.
by move=> jt; rewrite !circularE -/N; lia.
Qed.

Lemma run1 i : i <= N ->
  run 1 i = State i (symbol X i) (symbol X i.-1) 0 (symbol X i).
Proof. by move=> iN; rewrite /run /= /layer lookupE //=; lia. Qed.

Hypothesis letters : all (fun x => x < A) X.

Lemma symbolP i : 0 < i <= N -> exists2 x, symbol X i = Some x & x < A.
Proof. by move/symbol_some => [x -> xX]; exists x => //; apply: (allP letters). Qed.

Lemma last_matchE i : i <= N ->
  attend (fun j => last_match 2 A X (run 1 i) (run 1 j)) i = Some (find1 X i).
Proof.
move=> iN; apply: attend_unique (find1_le X i) _ => j ji jm.
have mi := find1_le X i.
rewrite !run1 ?(leq_trans _ iN) // /last_match /= -/N.
have pos j' : 1 < j' <= i ->
    match j' with
    | 0 => N.*2.-1
    | 1 => (2 * N * A + N).*2
    | _ => circular (angle 2 X (symbol X i) i) (angle 2 X (symbol X j'.-1) j') (2 * N * A)
    end = circular (angle 2 X (symbol X i) i) (angle 2 X (symbol X j'.-1) j') (2 * N * A).
  by case: j' => [|[|j']].
have far j' : 1 < j' <= i -> symbol X j'.-1 != symbol X i ->
    N.*2 < circular (angle 2 X (symbol X i) i) (angle 2 X (symbol X j'.-1) j') (2 * N * A).
  move=> j'i; have [x -> xA] := @symbolP i ltac:(lia).
  have [y -> yA] := @symbolP j'.-1 ltac:(lia) => yx; rewrite /angle -/N /=.
  have {}yx : y != x by apply: contraNneq yx => ->.
  set M := 2 * N; have MN : M = 2 * N by [].
  have := leq_mul (leqnn M) xA; have := leq_mul (leqnn M) yA; rewrite !mulnS => My Mx.
  rewrite circularE; try lia.
  have [lyx|lxy] : y < x \/ x < y by lia.
    by have := leq_mul (leqnn M) lyx; rewrite mulnS => Myx; lia.
  by have := leq_mul (leqnn M) lxy; rewrite mulnS => Mxy; lia.
have near j' : 1 < j' <= i -> symbol X j'.-1 = symbol X i ->
    circular (angle 2 X (symbol X i) i) (angle 2 X (symbol X j'.-1) j') (2 * N * A)
      = (i - j').*2.
  move=> j'i ->; have [x -> xA] := @symbolP i ltac:(lia); rewrite /angle -/N /=.
  set M := 2 * N; have MN : M = 2 * N by [].
  have := leq_mul (leqnn M) xA; rewrite mulnS => Mx.
  by rewrite circularE; lia.
case: find1P jm mi => [none j0 _|m mi meq after jm _].
  have [j1|j1] := leqP j 1.
    have -> : j = 1 by case: (j) j0 j1 => [|[|]].
    have N1 : 0 < N by apply: leq_trans iN; apply: leq_trans ji; rewrite lt0n.
    by clear -N1; lia.
  have j1i : 1 < j <= i by rewrite j1.
  by rewrite (pos j j1i); move: (far j j1i (none j j1i)); lia.
rewrite (pos m) // near //.
case: j ji jm => [|[|j]] ji jm; [lia | lia |].
have [eqj|neqj] := eqVneq (symbol X j.+2.-1) (symbol X i); last first.
  by have := far j.+2 ltac:(lia) neqj; lia.
rewrite near //; have [ltmj|] := ltnP m j.+2; last lia.
by move: (after j.+2 ltac:(lia)); rewrite eqj eqxx.
Qed.

Lemma digits_mod (d t : nat) :
  d %% 2 ^ t.+1 = d %% 2 ^ t + (if odd (d %/ 2 ^ t) then 2 ^ t else 0).
Proof.
have p0 : 0 < 2 ^ t by rewrite expn_gt0.
have := divn_eq d (2 ^ t); have := ltn_pmod d p0.
set r := d %% _; set q := d %/ _ => rlt deq.
have -> : d = q./2 * 2 ^ t.+1 + (r + odd q * 2 ^ t).
  rewrite {1}deq -{1}(odd_double_half q) mulnDl -muln2 -mulnA -expnS.
  by rewrite addnAC addnC (addnC r).
rewrite modnMDl modn_small; first by case: (odd q); rewrite ?mul1n.
by rewrite expnS; case: (odd q); rewrite ?mul1n ?mul0n; lia.
Qed.

(* After layer t + 2 a token knows find^(2^t), and the hops of the digits below t. *)
Lemma run_after t i : i <= N ->
  run t.+2 i = State i (symbol X i) (symbol X i.-1) (pointer X (2 ^ t) i)
                 (hop X (hopped + digits %% 2 ^ t) i).
Proof.
elim: t i => [|t IH] i iN.
  have -> : run 2 i = layer (last_match 2 A X) (point hopped) (run 1) i by [].
  rewrite /layer last_matchE // !run1 ?(leq_trans (find1_le X i)) //.
  by rewrite /point /= modn1 addn0 /hop /pointer; case: (hopped).
have -> : run t.+3 i =
    layer (lookup X aim) (double (odd (digits %/ 2 ^ t))) (run t.+2) i by [].
have toN j : j <= i -> j <= N by move/leq_trans; apply.
rewrite /layer lookupE //; last first.
- by rewrite IH //=; apply: pointer_le.
- by move=> j /toN jN; rewrite IH.
rewrite !IH //=; last by apply/toN/pointer_le.
rewrite /double /= -find_add addnn -mul2n -expnS digits_mod -hop_add.
by case: (odd _); rewrite ?addn0 ?addnA.
Qed.

End Correct.

(* --- what it computes --- *)

Lemma repairedE k A X t i : all (fun x => x < A) X -> i <= size X ->
  repaired k A X t.+2 i = hop X (k.-1 %% 2 ^ t).+1 i.
Proof. by move=> letters iN; rewrite /repaired run_after. Qed.

Lemma printedE k A X t i : all (fun x => x < A) X -> i <= size X ->
  printed k A X t.+2 i = hop X (odd k + k./2 %% 2 ^ t) i.
Proof. by move=> letters iN; rewrite /printed run_after. Qed.

Lemma before_two digits hopped A X L i : L < 2 -> i <= size X ->
  says (net 2 hopped digits A X L i) = symbol X i.
Proof. case: L => [|[|//]] _ iN; [by [] | by rewrite run1]. Qed.

(* 0, 1, 0, 1, ...: here find^h(i) = i - h as long as that is at least 2. *)
Definition alternating (n : nat) : seq nat := mkseq (fun i => odd i : nat) n.

Lemma alternating_letters n : all (fun x => x < 2) (alternating n).
Proof. by apply/allP => x /mapP [i _ ->]; case: (odd i). Qed.

Lemma symbol_alternating n i : 0 < i <= n -> symbol (alternating n) i = Some (odd i.-1 : nat).
Proof.
case: i => // i /= lt; rewrite /symbol /= (nth_map 0) ?size_mkseq //.
by rewrite nth_mkseq.
Qed.

Lemma find1_alternating n i : i <= n -> find1 (alternating n) i = if 2 < i then i.-1 else 0.
Proof.
move=> iN; have [i3|i3] := ltnP 2 i; last first.
  case: find1P => // j ji; rewrite !symbol_alternating; [|lia..].
  by have [-> ->] : j = 2 /\ i = 2 by lia.
case: find1P => [/(_ i.-1)|j ji]; rewrite !symbol_alternating; try lia.
- by case: i i3 iN => [|[|[|i]]] //= _ _ /(_ ltac:(lia)); rewrite negbK eqxx.
- move=> [eqj] last; have [//|jn] := eqVneq j i.-1.
  have [ltj|gej] := ltnP j i.-1.
    move: (last i.-1 ltac:(lia)); rewrite !symbol_alternating; [|lia..].
    by case: i i3 {iN ji eqj last jn ltj} => [|[|[|i]]] //= _; rewrite negbK eqxx.
  have ej : j = i by lia.
  by move: eqj; rewrite ej; case: i i3 {iN ji ej jn gej last} => [|[|i]] //= _; case: (odd i).
Qed.

Lemma pointer_alternating n h : 1 < n -> h < n ->
  pointer (alternating n) h n = if h < n.-1 then n - h else 0.
Proof.
move=> n1; elim: h => [|h IH] hn; first by case: n hn n1 => [|[|n]].
rewrite /pointer iterS -/(pointer _ _ _) IH ?(ltnW hn) //.
have -> : h < n.-1 by lia.
rewrite find1_alternating; last lia.
by have [?|?] := ltnP h.+1 n.-1; have [?|?] := ltnP 2 (n - h); lia.
Qed.

(* On the last of k + 1 alternating tokens fewer hops than k give an answer, k hops none. *)
Lemma fewer_hops_differ k h : h < k ->
  hop (alternating k.+1) h k.+1 != hop (alternating k.+1) k k.+1.
Proof.
move=> hk; rewrite /hop !pointer_alternating //=; [|lia..].
by rewrite hk ltnn symbol_alternating //; lia.
Qed.

(* Claim: hops/depth_corrected, upper end. For every k >= 1, alphabet and sequence, every token of
   the repaired construction (one causal head a layer) holds hop_k from layer
   ceil(log2 k) + 2 on. *)
Theorem depth_corrected k A X L i :
  0 < k -> all (fun x => x < A) X -> up_log 2 k + 2 <= L -> i <= size X ->
  repaired k A X L i = hop X k i.
Proof.
move=> k0 letters; rewrite addn2; case: L => [|[|t]] // lt iN; rewrite repairedE //.
rewrite modn_small ?prednK //.
by apply: leq_trans (@up_logP 2 k isT) _; rewrite leq_exp2l.
Qed.

(* Claim: hops/depth_corrected, lower end. For every k >= 1 and every smaller depth some token of
   some sequence over two symbols is wrong: the last of 0, 1, 0, 1, ... of length k + 1. *)
Theorem depth_corrected_sharp k L :
  0 < k -> L < up_log 2 k + 2 ->
  repaired k 2 (alternating k.+1) L k.+1 != hop (alternating k.+1) k k.+1.
Proof.
move=> k0 lt; have size_X : k.+1 <= size (alternating k.+1) by rewrite size_mkseq.
case: L lt => [|[|t]] lt; first 1 [exact: (@fewer_hops_differ k 0)].
  by rewrite /repaired before_two //; apply: (@fewer_hops_differ k 0).
rewrite repairedE ?alternating_letters //; apply: fewer_hops_differ.
have t1 : t < up_log 2 k by lia.
have k2 : 2 ^ t < k.
  by rewrite ltnNge; apply/negP => le; have := @up_log_min 2 k t isT le; lia.
by apply: leq_trans k2; rewrite ltnS ltn_pmod ?expn_gt0.
Qed.

(* The two ends in one: the least depth from which on the construction is right everywhere. *)
Theorem depth_corrected_least k L : 0 < k ->
  (forall A X i, all (fun x => x < A) X -> i <= size X -> repaired k A X L i = hop X k i)
  <-> up_log 2 k + 2 <= L.
Proof.
move=> k0; split => [right|lt A X i letters iN]; last exact: depth_corrected.
rewrite leqNgt; apply/negP => /(depth_corrected_sharp k0) /eqP; apply.
by apply: right; rewrite ?alternating_letters ?size_mkseq.
Qed.

(* Claim: hops/depth_printed, where it is settled: at k = 2^t the printed depth floor(log2 k) + 2
   is enough. At any other k this construction needs a layer more, which refutes nothing. *)
Theorem depth_printed_at_powers t A X i : all (fun x => x < A) X -> i <= size X ->
  repaired (2 ^ t) A X (trunc_log 2 (2 ^ t) + 2) i = hop X (2 ^ t) i.
Proof.
move=> letters iN; apply: depth_corrected => //; first by rewrite expn_gt0.
by rewrite up_expnK ?trunc_expnK.
Qed.

(* 3 hops in 4 layers, where the printed depth is 3; executed and by the theorem. *)
Example three_hops :
  let X := [:: 0; 1; 1; 0; 2; 1; 0; 2; 1] in
  [seq repaired 3 3 X 4 i | i <- iota 1 9] = [seq hop X 3 i | i <- iota 1 9].
Proof. by vm_compute. Qed.
Example three_hops_not_in_three :
  repaired 3 2 (alternating 4) 3 4 != hop (alternating 4) 3 4.
Proof. exact: (@depth_corrected_sharp 3 3). Qed.

(* Claim: hops/construction_printed_hops. The printed induction step computes hop_h with
   h = ceil(k/2), on every token of every sequence. *)
Theorem construction_printed_hops k A X L i :
  all (fun x => x < A) X -> up_log 2 k + 2 <= L -> i <= size X ->
  printed k A X L i = hop X (uphalf k) i.
Proof.
move=> letters; rewrite addn2; case: L => [|[|t]] // lt iN; rewrite printedE //.
rewrite modn_small ?uphalf_half //.
case: k lt => [|k] lt; first by rewrite expn_gt0.
apply: leq_trans (_ : k.+1 <= _); first by rewrite -divn2 ltn_Pdiv.
by apply: leq_trans (@up_logP 2 k.+1 isT) _; rewrite leq_exp2l.
Qed.

(* Claim: hops/construction_printed_depth (and the reason for hops/depth_printed). For every
   k >= 2 the printed induction step errs at EVERY depth, on a sequence over two symbols. *)
Theorem construction_printed_errs k L :
  1 < k -> printed k 2 (alternating k.+1) L k.+1 != hop (alternating k.+1) k k.+1.
Proof.
move=> k1; have size_X : k.+1 <= size (alternating k.+1) by rewrite size_mkseq.
have [lt|] := ltnP L 2.
  by rewrite /printed before_two //; apply: (@fewer_hops_differ k 0); lia.
case: L => [|[|t]] // _; rewrite printedE ?alternating_letters //; apply: fewer_hops_differ.
have := leq_mod k./2 (2 ^ t); have := odd_double_half k; set r := _ %% _.
by case: (odd k); lia.
Qed.

(* At k = 1 the step is not used, and the construction is right. *)
Example construction_printed_one A X L i :
  all (fun x => x < A) X -> 2 <= L -> i <= size X -> printed 1 A X L i = hop X 1 i.
Proof. by move=> letters L2 iN; apply: construction_printed_hops. Qed.

(* The smallest case by computation: 2 hops on 0 1 0; nothing is there, the net says 1. *)
Example construction_printed_two :
  [seq printed 2 2 [:: 0; 1; 0] L 3 | L <- iota 2 4] = [:: Some 0; Some 1; Some 1; Some 1]
  /\ hop [:: 0; 1; 0] 2 3 = None.
Proof. by vm_compute. Qed.

(* Claim: hops/construction_printed_spacing. Symbols N apart, as printed, err at N = 3,
   X = (0, 0, 1), token 3, which should find nothing. *)
Theorem construction_printed_spacing_errs :
  says (net 1 true 0 2 [:: 0; 0; 1] 2 3) = Some 0 /\ hop [:: 0; 0; 1] 1 3 = None.
Proof. by vm_compute. Qed.

(* --- the numbers of the claims --- *)

(* ceil(log2 k) + 2 for k >= 1, ceil(k / 2), and a + b. *)
Definition layers_value (k : N) : N := N.add (N.log2_up k) 2%num.
Definition printed_hops_value (k : N) : N := N.div2 (N.succ k).
Definition added_value (a b : N) : N := N.add a b.

Lemma of_nat_bin n : bin_of_nat n = N.of_nat n.
Proof.
rewrite -[RHS]nat_of_binK; congr bin_of_nat.
by elim: n => // n IH; rewrite Nnat.Nat2N.inj_succ; case: (N.of_nat n) IH => [|p] /= ->;
  rewrite ?nat_of_succ_pos.
Qed.

Lemma of_nat_exp b n : N.of_nat (b ^ n) = N.pow (N.of_nat b) (N.of_nat n).
Proof.
elim: n => // n IH; rewrite expnS Nnat.Nat2N.inj_succ N.pow_succ_r'.
by rewrite -IH -Nnat.Nat2N.inj_mul.
Qed.

Lemma log2_upE n : N.log2_up (N.of_nat n) = N.of_nat (up_log 2 n).
Proof.
case: n => [|[|n]] //.
have /andP [lo hi] : 2 ^ (up_log 2 n.+2).-1 < n.+2 <= 2 ^ up_log 2 n.+2 by exact: up_log_bounds.
move: lo hi; have : 0 < up_log 2 n.+2 by rewrite up_log_gt0.
case: (up_log 2 n.+2) => // t _; rewrite succnK => lo hi.
apply: N.log2_up_unique; first by clear; lia.
rewrite -Nnat.Nat2N.inj_pred succnK -!(of_nat_exp 2).
by move: lo hi; move: (2 ^ t) (2 ^ t.+1) (n.+2) => a b c lo hi; split; lia.
Qed.

Lemma layers_valueE (k : nat) : layers_value (bin_of_nat k) = bin_of_nat (up_log 2 k + 2).
Proof. by rewrite /layers_value !of_nat_bin log2_upE Nnat.Nat2N.inj_add. Qed.

Lemma printed_hops_valueE (k : nat) : printed_hops_value (bin_of_nat k) = bin_of_nat (uphalf k).
Proof.
have div2E n : PeanoNat.Nat.div2 n = n./2.
  by elim/ltn_ind: n => [[|[|n]]] //= IH; rewrite IH.
by rewrite /printed_hops_value !of_nat_bin -Nnat.Nat2N.inj_succ -Nnat.Nat2N.inj_div2 div2E.
Qed.

Lemma added_valueE (a b : nat) : added_value (bin_of_nat a) (bin_of_nat b) = bin_of_nat (a + b).
Proof. by rewrite /added_value !of_nat_bin Nnat.Nat2N.inj_add. Qed.

Example layers_values :
  [seq layers_value k | k <- [:: 1; 2; 3; 4; 5; 8; 9; 64]%num] = [:: 2; 3; 4; 4; 5; 5; 6; 8]%num.
Proof. by vm_compute. Qed.

(* Claim: hops/depth_corrected. L layers of the repaired construction are right on every token of
   every sequence exactly from this depth on. *)
Corollary depth_corrected_checked k L : 0 < k ->
  (forall A X i, all (fun x => x < A) X -> i <= size X -> repaired k A X L i = hop X k i)
  <-> nat_of_bin (layers_value (bin_of_nat k)) <= L.
Proof. by rewrite layers_valueE bin_of_natK; apply: depth_corrected_least. Qed.

(* Claim: hops/doubling. find^a after find^b is find^h on every sequence of every alphabet for this
   number of hops h, and for no other. *)
Corollary doubling_checked a b h :
  (forall (T : eqType) (X : seq T) i, i <= size X ->
    pointer X a (pointer X b i) = pointer X h i)
  <-> h = nat_of_bin (added_value (bin_of_nat a) (bin_of_nat b)).
Proof.
rewrite added_valueE bin_of_natK; split=> [same|-> T X i _]; last by rewrite find_add.
pose n := (a + b + h).+2; have size_n : n <= size (alternating n) by rewrite size_mkseq.
have := same _ (alternating n) n size_n; rewrite -find_add !pointer_alternating /n; try lia.
by do 2!case: ifP; lia.
Qed.

(* Claim: hops/construction_printed_hops. From its depth floor(log2 k) + 2 on, the construction with
   the printed induction step computes hop_h on every token of every sequence for this number of
   hops h, and for no other. *)
Corollary construction_printed_hops_checked k h : 0 < k ->
  (forall A X L i, all (fun x => x < A) X -> trunc_log 2 k + 2 <= L -> i <= size X ->
    printed k A X L i = hop X h i)
  <-> h = nat_of_bin (printed_hops_value (bin_of_nat k)).
Proof.
move=> k0; rewrite printed_hops_valueE bin_of_natK.
have right A X L i : all (fun x => x < A) X -> trunc_log 2 k + 2 <= L -> i <= size X ->
    printed k A X L i = hop X (uphalf k) i.
  rewrite addn2 => letters; case: L => [|[|t]] // lt iN; rewrite printedE // uphalf_half.
  rewrite modn_small //; apply: leq_trans (_ : 2 ^ trunc_log 2 k <= _); last by rewrite leq_exp2l.
  by have := @trunc_log_ltn 2 k isT; rewrite expnS; have := odd_double_half k; lia.
split=> [same|->]; last exact: right.
have eqh n : hop (alternating n) h n = hop (alternating n) (uphalf k) n.
  have n_le : n <= size (alternating n) by rewrite size_mkseq.
  have letters := alternating_letters n; have deep := leqnn (trunc_log 2 k + 2).
  exact: etrans (esym (same 2 _ _ n letters deep n_le)) (right 2 _ _ n letters deep n_le).
have [lt|lt|//] := ltngtP h (uphalf k).
  by case/eqP: (fewer_hops_differ lt); exact (eqh (uphalf k).+1).
by case/eqP: (fewer_hops_differ lt); exact (esym (eqh h.+1)).
Qed.

(* Two hops after three are five, and not six; six hops of the printed step are three. *)
Example five_hops (X : seq bool) i : i <= size X -> pointer X 2 (pointer X 3 i) = pointer X 5 i.
Proof. by move: X i; apply: (doubling_checked 2 3 5).2. Qed.
Example six_hops_printed i (X := [:: 0; 1; 1; 0; 2; 1; 0; 2; 1]) : i <= 9 ->
  printed 6 3 X 4 i = hop X 3 i.
Proof. by move=> i9; apply: ((construction_printed_hops_checked 3 (isT : 0 < 6)).2 _ 3 X 4). Qed.

(* Four hops in four layers, as many as printed. *)
Example four_hops i (X := [:: 0; 1; 1; 0; 2; 1; 0; 2; 1]) : i <= 9 ->
  repaired 4 3 X 4 i = hop X 4 i.
Proof. exact: (@depth_printed_at_powers 2 3 X i isT). Qed.

(* Two hops on 0 1 0 fail at every depth: nothing is there, and the net says something. *)
Example two_hops_err L : printed 2 2 [:: 0; 1; 0] L 3 != None.
Proof. exact: (@construction_printed_errs 2 L isT). Qed.

(* Three hops: four layers are right on all sequences, three are not. *)
Example three_hops_least
    (right := fun L => forall A X i,
      all (fun x => x < A) X -> i <= size X -> repaired 3 A X L i = hop X 3 i) :
  right 4 /\ ~ right 3.
Proof.
by split; [exact/(@depth_corrected_checked 3 4 isT) | move/(@depth_corrected_checked 3 3 isT)].
Qed.
