(* Counting letters by hard attention that looks both ways: half the layers are saved.

   The nets are those of BothWays.v. A place of a word of equal letters knows after l layers how
   many letters are before it, if fewer than l, and how many are after it, if fewer than l. So L
   layers tell words of equal letters apart up to the length 2 L - 1, where heads that look back
   tell them apart up to L. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.
From depthlaw Require Import HardAttention BothWays.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory.

(* --- what no net can tell apart --- *)

Section Alike.

Variables (disp : unit) (S : orderType disp) (A : Type) (f : net S A) (a : A).

(* n equal letters and the end. *)
Definition equal n : seq (option A) := rcons (map Some (nseq n a)) None.

Lemma size_equal n : size (equal n) = n.+1.
Proof. by rewrite size_rcons size_map size_nseq. Qed.

Lemma nth_equal n i : nth None (equal n) i = if i < n then Some a else None.
Proof.
rewrite /equal nth_rcons size_map size_nseq; case: ltngtP => // ilt.
by rewrite (nth_map a) ?size_nseq // nth_nseq ilt.
Qed.

Local Notation held n := (hold f (equal n)).

(* A letter more, put in at the place p, which the head sees from i as it sees p and p + 1 from i':
   what it attends to is the same. *)
Lemma put_in n i i' p X (score : X -> S) tie v (g g' : nat -> X) :
  p <= n -> (forall k, k <= p -> g k = g' k) -> (forall k, p <= k <= n -> g k = g' k.+1) ->
  (forall k, k <= p -> sees v i k = sees v i' k) ->
  (forall k, p <= k -> sees v i k = sees v i' k.+1) ->
  attend tie score [seq g k | k <- iota 0 n.+1 & sees v i k]
  = attend tie score [seq g' k | k <- iota 0 n.+2 & sees v i' k].
Proof.
move=> pn gl gr sl sr.
rewrite (_ : n.+2 = p + (1 + (1 + (n - p)))); last by lia.
rewrite (_ : n.+1 = p + (1 + (n - p))); last by lia.
rewrite !iotaD !filter_cat !map_cat !add0n.
rewrite (_ : [seq g' k | k <- iota 0 p & sees v i' k] = [seq g k | k <- iota 0 p & sees v i k]);
  last first.
  rewrite -(eq_in_filter (a1 := sees v i)) => [|k]; last by rewrite mem_iota => kp; apply: sl; lia.
  by apply/eq_in_map => k; rewrite mem_filter mem_iota => /andP [_ kp]; rewrite gl //; lia.
rewrite (_ : [seq g' k | k <- iota (p + 1 + 1) (n - p) & sees v i' k]
           = [seq g k | k <- iota (p + 1) (n - p) & sees v i k]); last first.
  rewrite (addnC _ 1) iotaDl filter_map -map_comp.
  rewrite -(eq_in_filter (a1 := sees v i)) => [|k]; last first.
    by rewrite mem_iota => kp; rewrite /= add1n; apply: sr; lia.
  apply/eq_in_map => k; rewrite mem_filter mem_iota => /andP [_ kp].
  by rewrite /= add1n gr //; lia.
rewrite /= addn1 -sl // -(sr p) //; case: (sees v i p) => //=.
rewrite -gl // -gr ?leqnn ?pn //.
by rewrite -[g p :: g p :: _]/([:: g p] ++ [:: g p] ++ _) attend_twice.
Qed.

(* After l layers a place far from the end holds what it holds with a letter more, and so does a
   place far from the beginning, which is then one further. *)
Lemma letter_more n l : l.*2 <= n.+1 ->
  (forall i, i + l < n -> held n l i = held n.+1 l i) /\
  (forall i, l <= i <= n -> held n l i = held n.+1 l i.+1).
Proof.
elim: l => [|l IH] nl.
  by split=> [i ilt|//]; rewrite /= !nth_equal !ifT //; lia.
have [left right] := IH ltac:(lia).
split=> i ilt; rewrite [LHS]/= [RHS]/=.
  rewrite left; last by lia.
  congr join; apply/ffunP => h; rewrite !ffunE !size_equal.
  apply: (@put_in n i i (maxn i.+1 l)) => [|k kp|k kp|k kp|k kp] //; try by [lia | apply: left; lia].
    by apply: right; lia.
  by rewrite /sees; do !case: ifP => //; lia.
rewrite right; last by lia.
congr join; apply/ffunP => h; rewrite !ffunE !size_equal.
apply: (@put_in n i i.+1 (minn i.-1 (n - l.+1))) => [|k kp|k kp|k kp|k kp] //; try lia.
- by apply: left; lia.
- by apply: right; lia.
- by rewrite /sees; do !case: ifP => //; lia.
Qed.

Lemma one_more_letter n L : L.*2 <= n.+1 -> accepts f L (nseq n a) = accepts f L (nseq n.+1 a).
Proof.
move=> Ln; rewrite /accepts !size_nseq; congr accept.
by have [_ ->] := letter_more Ln; last lia.
Qed.

(* Whatever the net, L layers give words of 2 L - 1 and of more equal letters one answer. *)
Lemma equal_letters_both_ways L n m : L.*2.-1 <= n -> L.*2.-1 <= m ->
  accepts f L (nseq n a) = accepts f L (nseq m a).
Proof.
have go d : accepts f L (nseq (L.*2.-1 + d) a) = accepts f L (nseq L.*2.-1 a).
  by elim: d => [|d <-]; rewrite ?addn0 // addnS; apply/esym/one_more_letter; lia.
by move=> /subnKC <- /subnKC <-; rewrite !go.
Qed.

End Alike.

(* --- a net that counts both ways --- *)

Section Count.

Variables (A : finType) (p q : nat).

(* Whether p letters were before, and whether q come after; in layer p the end looks for a place
   with both. *)
Definition count_net : net [orderType of bool] A :=
  @Net _ _ A [finType of bool * bool] [finType of bool]
    (fun _ back => if back then View true false false else View false false true)
    (fun _ _ => rightmost)
    (fun c => (true, isSome c))
    (fun l back _ key => if back then key.1 && ((l < p) || key.2) else key.2)
    (fun l own u => (isSome (keep (fun key => key.1 && ((l < p) || key.2)) (u true)),
                     if l < q then isSome (keep snd (u false)) else own.2))
    fst.

Local Notation text w := (rcons (map Some w) None).

Lemma count_held w t i : q <= p -> t <= p -> i <= size w ->
  hold count_net (text w) t i = (t <= i, i + minn t q < size w).
Proof.
move=> qp; elim: t i => [|t IH] i tp iw.
  rewrite /= min0n addn0 nth_rcons size_map; case: ltngtP iw => // iw _.
  by case: w iw => // x w iw; rewrite (nth_map x).
have inner j : j <= size w -> hold count_net (text w) t j = (t <= j, j + minn t q < size w).
  by apply: IH; apply: ltnW.
rewrite [LHS]/= !ffunE tp IH //=; last exact: ltnW.
have seen (pr : pred (state count_net)) v :
    isSome (keep pr (attend rightmost (pr : _ -> bool)
      [seq hold count_net (text w) t j | j <- iota 0 (size (text w)) & sees v i j]))
    = has (fun j => sees v i j && pr (t <= j, j + minn t q < size w)) (iota 0 (size w).+1).
  rewrite attend_any has_map has_filter -filter_predI -has_filter size_rcons size_map.
  apply/eq_in_has => j; rewrite mem_iota => jw /=.
  by rewrite inner 1?andbC.
congr pair.
  rewrite (seen (fun key => key.1 && true)); apply/hasP/idP.
    by move=> [j _]; rewrite /sees /= andbT; do !case: ifP => //; lia.
  move=> ti; exists t; first by rewrite mem_iota; lia.
  by rewrite /sees leqnn ifF ?ti //; lia.
case: ltnP => tq; last by congr (_ + _ < _); lia.
rewrite (seen snd); apply/hasP/idP.
  by move=> [j _]; rewrite /sees /=; do !case: ifP => //; lia.
move=> it; exists i.+1; first by rewrite mem_iota; lia.
by rewrite /sees /= ifF ?ifF /=; lia.
Qed.

Lemma count_recognises : q <= p -> recognises count_net p.+1 (at_least (p + q).+1).
Proof.
move=> qp w; rewrite /accepts [hold _ _ _ _]/= ffunE ltnn.
rewrite attend_any has_map has_filter -filter_predI -has_filter size_rcons size_map.
rewrite /at_least; apply/hasP/idP.
  move=> [j]; rewrite mem_iota /= => jw /andP [].
  by rewrite count_held //=; lia.
move=> pqw; exists p; first by rewrite mem_iota; lia.
by rewrite /= count_held //; [rewrite /sees; do !case: ifP => //=; lia | lia].
Qed.

End Count.

(* --- a layer more --- *)

Section Wait.

Variables (disp : unit) (S : orderType disp) (A : Type) (f : net S A).

(* Nothing happens in the first layer. *)
Definition wait : net S A :=
  @Net _ S A (state f) (heads f) (fun l => view_of l.-1) (fun l => tie_of l.-1) (@embed _ _ _ f)
    (fun l => score l.-1) (fun l own u => if l is l'.+1 then join l' own u else own)
    (@accept _ _ _ f).

Lemma wait_held text L i : hold wait text L.+1 i = hold f text L i.
Proof.
elim: L i => [|L IH] i //; rewrite [RHS]/= -IH.
apply: (congr1 (@join _ _ _ f L _)); apply/ffunP => h; rewrite !ffunE.
by congr attend; apply/eq_in_map => j _; apply: IH.
Qed.

End Wait.

Lemma more_layers disp (S : orderType disp) A (f : net S A) l L language : l <= L ->
  recognises f l language -> exists f' : net S A, recognises f' L language.
Proof.
move=> /subnK <-; elim: (L - l) => [|d IH] right; first by exists f.
have [f' right'] := IH right; exists (wait f') => w.
by rewrite -right' /accepts wait_held.
Qed.

(* --- k letters at least --- *)

Section AtLeast.

Variables (A : finType) (a : A).

Lemma at_least_both_ways k : 0 < k -> least_layers 2 (@at_least A k) (k./2 + 1).
Proof.
move=> k0; rewrite addn1; split; last first.
  move=> disp S f l right; rewrite ltnNge; apply/negP => lk.
  have := @equal_letters_both_ways _ _ _ f a l k.-1 k.
  by rewrite !right /at_least !size_nseq leqnn; lia.
exists (count_net A k./2 k.-1./2); split; first by exists [finType of bool * bool].
  by rewrite card_bool.
have := @count_recognises A k./2 k.-1./2; rewrite (_ : (_ + _).+1 = k); last by lia.
by apply; lia.
Qed.

(* Claim: least_depth/letters_both_ways. The words of at least k letters take exactly
   floor(k / 2) + 1 layers of hard attention, whatever each head sees of what is before, at and
   after its position, and whichever side ties go to; two heads a layer do it. Of two words of equal
   letters all nets of L layers agree exactly if both have 2 L - 1 letters, or as many. So no number
   of layers decides whether a length is even. Heads that look back take k layers, and tell L
   letters from fewer in L layers (HardAttention.v, `strict_hierarchy`). *)
Theorem letters_both_ways k : 0 < k ->
  [/\ least_layers 2 (@at_least A k) (k./2 + 1),
      forall L n m, (forall disp (S : orderType disp) (f : net S A),
          accepts f L (nseq n a) = accepts f L (nseq m a)) <-> minn n L.*2.-1 = minn m L.*2.-1
    & forall disp (S : orderType disp) (f : net S A) L,
        ~ recognises f L (fun w => ~~ odd (size w))].
Proof.
move=> k0; split; first exact: at_least_both_ways.
- move=> L n m; split=> [same|nm disp S f]; last first.
    case: (leqP L.*2.-1 n) nm => Ln nm; last by rewrite (_ : n = m) //; lia.
    by apply: equal_letters_both_ways; lia.
  have tell k1 : 0 < k1 -> k1 < L.*2 -> (k1 <= n) = (k1 <= m).
    move=> k10 k1L; have [[f [_ _ right]] _] := at_least_both_ways k10.
    have kL : k1./2 + 1 <= L by lia.
    have [f' right'] := more_layers kL right.
    by have := same _ _ f'; rewrite !right' /at_least !size_nseq.
  by have := tell (minn n m).+1 isT; lia.
move=> disp S f L right.
have := @equal_letters_both_ways _ _ _ f a L L.*2 L.*2.+1.
by rewrite !right !size_nseq /= odd_double; lia.
Qed.

End AtLeast.

(* --- as the claim says it, for k in binary --- *)

Definition letters_both_ways_value (k : N) : N := N.succ (N.div2 k).

Lemma letters_both_ways_valueE (k : nat) :
  letters_both_ways_value (bin_of_nat k) = bin_of_nat (k./2 + 1).
Proof. exact: blocks_valueE. Qed.

(* Claim: least_depth/letters_both_ways. The words of at least k > 0 letters take
   `letters_both_ways_value k` layers of hard attention whose heads look both ways; of two words of
   equal letters all nets of L layers agree exactly if both have 2 L - 1 letters, or as many; and no
   number of layers decides whether a length is even. *)
Theorem letters_both_ways_checked (A : finType) (a : A) (k : N) : 0 < nat_of_bin k ->
  [/\ least_layers 2 (@at_least A (nat_of_bin k)) (nat_of_bin (letters_both_ways_value k)),
      forall L n m, (forall disp (S : orderType disp) (f : net S A),
          accepts f L (nseq n a) = accepts f L (nseq m a)) <-> minn n L.*2.-1 = minn m L.*2.-1
    & forall disp (S : orderType disp) (f : net S A) L,
        ~ recognises f L (fun w => ~~ odd (size w))].
Proof. by rewrite (value_of _ letters_both_ways_valueE); apply: letters_both_ways. Qed.

(* --- instances, and other constants --- *)

Example letters_both_ways_5 : least_layers 2 (@at_least [finType of bool] 5) 3.
Proof. by have [] := @letters_both_ways_checked _ true 5 isT. Qed.

(* Two layers find a place with a letter on either side. *)
Example three_letters : let f := count_net [finType of bool] 1 1 in
  accepts f 2 [:: true; false; true] && ~~ accepts f 2 [:: true; false].
Proof. by have right := @count_recognises [finType of bool] 1 1 isT; cbv zeta; rewrite !right. Qed.

(* Not a layer for each letter; heads that look back do need that many. *)
Lemma letters_both_ways_not_each (A : finType) (a : A) k :
  2 < k -> ~ least_layers 2 (@at_least A k) k.
Proof.
move=> k2 h; have k0 : 0 < k by lia.
have [half _ _] := letters_both_ways a k0.
by have := BothWays.least_layers_unique h half; lia.
Qed.

(* Half the letters, rounded up, are a layer too few where their number is even. *)
Lemma letters_both_ways_not_half (A : finType) (a : A) k :
  0 < k -> ~ least_layers 2 (@at_least A k.*2) k.
Proof.
move=> k0 h; have k1 : 0 < k.*2 by lia.
have [half _ _] := letters_both_ways a k1.
by have := BothWays.least_layers_unique h half; lia.
Qed.

(* No letter takes no layer: the hypothesis that k is positive is needed. *)
Lemma no_letter_both_ways (A : finType) : ~ least_layers 2 (@at_least A 0) (0./2 + 1).
Proof.
move=> [_ low]; suff : 1 <= 0 by [].
apply: (low _ _ (@Net _ [orderType of bool] A unit [finType of unit]
  (fun _ _ => View true true true) (fun _ _ => leftmost) (fun=> tt) (fun _ _ _ _ => true)
  (fun _ _ _ => tt) (fun=> true))).
by move=> w.
Qed.

Example values :
  [seq letters_both_ways_value k | k <- [:: 1; 2; 3; 4; 5; 6; 7]]%num
  = [:: 1; 2; 2; 3; 3; 4; 4]%num.
Proof. by []. Qed.
