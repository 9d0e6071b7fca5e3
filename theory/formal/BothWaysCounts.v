(* Counting letters by hard attention that looks both ways: half the layers are saved.

   The nets are those of BothWays.v. In words of equal letters that are long enough, a place knows
   after l layers how many letters are before it, if fewer than l, and how many are after it, if
   fewer than l. So L layers tell words of equal letters apart up to the length 2 L - 1, where heads
   that look back tell them apart up to L. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.
From Depthlaw Require Import HardAttention BothWays.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory.

(* --- what no net can tell apart --- *)

Section Alike.

Variables (disp : Order.disp_t) (S : orderType disp) (A : Type) (f : net S A) (a : A).

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
  apply: (@put_in n i i (maxn i.+1 l)) => [|k kp|k kp|k kp|k kp] //; try lia.
  - by apply: left; lia.
  - by apply: right; lia.
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
Theorem equal_letters_both_ways L n m : L.*2.-1 <= n -> L.*2.-1 <= m ->
  accepts f L (nseq n a) = accepts f L (nseq m a).
Proof.
have go d : accepts f L (nseq (L.*2.-1 + d) a) = accepts f L (nseq L.*2.-1 a).
  by elim: d => [|d <-]; rewrite ?addn0 // addnS; apply/esym/one_more_letter; lia.
by move=> /subnKC <- /subnKC <-; rewrite !go.
Qed.

End Alike.

(* --- a net that counts both ways --- *)

Section Count.

Variables (A : finType) (c : pred A) (p q : nat).

(* A counted letter knows whether p of them were before, and whether q come after; in layer p the
   end looks for one with both. *)
Definition count_net : net (bool : orderType _) A :=
  @Net _ _ A ((bool * bool)%type : finType) (bool : finType)
    (fun _ back => if back then View true false false else View false false true)
    (fun _ _ => rightmost)
    (fun x => let counted := if x is Some y then c y else false in (counted, counted))
    (fun l back _ key => if back then key.1 && ((l < p) || key.2) else key.2)
    (fun l own u => (((p <= l) || own.1)
                       && isSome (keep (fun key => key.1 && ((l < p) || key.2)) (u true)),
                     if l < q then own.2 && isSome (keep snd (u false)) else own.2))
    fst.

Local Notation text w := (rcons (map Some w) None).
Definition counted w i : bool := if nth None (text w) i is Some y then c y else false.

Lemma counted_size w i : counted w i -> i < size w.
Proof. by rewrite /counted nth_rcons size_map; case: ltngtP. Qed.

Lemma count_take w i : i < size w -> count c (take i.+1 w) = count c (take i w) + counted w i.
Proof.
move=> iw; have [x xi ->] := letterP iw.
by rewrite -cats1 count_cat /= addn0 /counted nth_rcons size_map iw -/(letter w i) xi.
Qed.

Lemma count_drop w i : i < size w -> count c (drop i w) = counted w i + count c (drop i.+1 w).
Proof.
move=> iw; have [x xi ->] := drop_letter iw.
by rewrite /= /counted nth_rcons size_map iw -/(letter w i) xi.
Qed.

(* Of more than t counted letters one has t before it, and one has t after it. *)
Lemma one_before w t i : i <= size w -> t < count c (take i w) ->
  exists2 j, j < i & counted w j && (count c (take j w) == t).
Proof.
elim: i => [|i IH] iw; first by rewrite take0.
rewrite count_take // => ti; case: (ltnP t (count c (take i w))) => ti'.
  by have [|j ji jt] := IH _ ti'; [apply: ltnW | exists j; first apply: ltnW].
by exists i => //; move: ti ti'; case: (counted w i) => /=; lia.
Qed.

Lemma one_after w t i : t < count c (drop i w) ->
  exists2 j, i <= j & counted w j && (count c (drop j.+1 w) == t).
Proof.
have [d] := ubnP (size w - i); elim: d i => // d IH i di ti.
have iw : i < size w by case: (ltnP i (size w)) ti => // wi; rewrite drop_oversize.
move: ti; rewrite count_drop // => ti; case: (ltnP t (count c (drop i.+1 w))) => ti'.
  by have [|j ij jt] := IH i.+1 _ ti'; [lia | exists j; first apply: ltnW].
by exists i => //; move: ti ti'; case: (counted w i) => /=; lia.
Qed.

Lemma count_take_le w i j : i <= j -> count c (take i w) <= count c (take j w).
Proof. by move=> ij; rewrite -(subnKC ij) takeD count_cat leq_addr. Qed.

Lemma count_drop_le w i j : i <= j -> count c (drop j w) <= count c (drop i w).
Proof.
move=> /subnK <-; rewrite -drop_drop -{2}(cat_take_drop (j - i) (drop i w)) count_cat.
exact: leq_addl.
Qed.

Lemma seen_has (pr : pred (state count_net)) v w t i :
  isSome (keep pr (attend rightmost (pr : _ -> bool)
    [seq hold count_net (text w) t j | j <- iota 0 (size (text w)) & sees v i j]))
  = has (fun j => sees v i j && pr (hold count_net (text w) t j)) (iota 0 (size (text w))).
Proof.
rewrite attend_any has_map has_filter -filter_predI -has_filter.
by apply: eq_has => j /=; rewrite andbC.
Qed.

Lemma count_held w t i : q <= p -> t <= p ->
  hold count_net (text w) t i
  = (counted w i && (t <= count c (take i w)),
     counted w i && (minn t q <= count c (drop i.+1 w))).
Proof.
move=> qp; elim: t i => [|t IH] i tp; first by rewrite /= min0n !andbT.
rewrite [LHS]/= !ffunE tp leqNgt tp IH ?(ltnW tp) //= !seen_has.
case wi: (counted w i); last by case: ifP.
have iw := counted_size wi; congr pair => /=.
  apply/andP/idP => [[_ /hasP [j _]]|ti].
    rewrite IH ?(ltnW tp) // /sees => /andP [ji /andP [/andP [wj tj] _]].
    have {}ji : j < i by move: ji; do !case: ifP.
    by have := count_take_le w ji; rewrite count_take ?wj; lia.
  split; first exact: ltnW.
  have [j ji /andP [wj /eqP tj]] := one_before (ltnW iw) ti.
  apply/hasP; exists j; first by rewrite mem_iota size_rcons size_map; lia.
  by rewrite IH ?(ltnW tp) // /sees ji wj tj leqnn /= ifF //; lia.
case: ltnP => tq; last by congr (_ <= _); lia.
apply/andP/idP => [[_ /hasP [j _]]|].
  rewrite IH ?(ltnW tp) // /sees => /andP [ij /= /andP [wj tj]].
  have {}ij : i < j by move: ij; do !case: ifP => //; lia.
  have := count_drop_le w ij; rewrite count_drop ?wj ?(counted_size wj) //; lia.
rewrite (minn_idPl tq) => ti; split; first by lia.
have [j ij /andP [wj /eqP tj]] := one_after ti.
apply/hasP; exists j; first by rewrite mem_iota size_rcons size_map; have := counted_size wj; lia.
rewrite IH ?(ltnW tp) // (minn_idPl (ltnW tq)) wj tj leqnn /sees /=; do !case: ifP => //; lia.
Qed.

Lemma count_recognises : q <= p -> recognises count_net p.+1 (fun w => p + q < count c w).
Proof.
move=> qp w; rewrite /accepts [hold _ _ _ _]/= ffunE ltnn leqnn seen_has /=.
apply/hasP/idP => [[j _]|pqw].
  rewrite count_held // => /andP [_ /andP [/andP [wj pj] /andP [_ qj]]].
  have jw := counted_size wj; rewrite -(cat_take_drop j w) count_cat count_drop // wj.
  by move: qj; rewrite (minn_idPr qp); lia.
have [j _ /andP [wj /eqP qj]] : exists2 j, 0 <= j & counted w j && (count c (drop j.+1 w) == q).
  by apply: one_after; rewrite drop0; lia.
have jw := counted_size wj.
exists j; first by rewrite mem_iota size_rcons size_map; lia.
rewrite count_held // wj qj /= (minn_idPr qp) leqnn andbT.
have E : count c w = count c (take j w) + q.+1.
  by rewrite -{1}(cat_take_drop j w) count_cat count_drop // wj qj.
by rewrite /sees ifF ?jw /=; lia.
Qed.

End Count.

(* --- a layer more --- *)

Section Wait.

Variables (disp : Order.disp_t) (S : orderType disp) (A : Type) (f : net S A).

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

Variables (A : finType) (c : pred A) (a : A).
Hypothesis counted_a : c a.

(* The words with at least k letters that are counted. *)
Definition counts k (w : seq A) : bool := k <= count c w.

Lemma count_letters n : count c (nseq n a) = n.
Proof. by rewrite count_nseq counted_a mul1n. Qed.

Lemma counts_both_ways k : 0 < k -> least_layers 2 (counts k) (k./2 + 1).
Proof.
move=> k0; rewrite addn1; split; last first.
  move=> disp S f l right; rewrite ltnNge; apply/negP => lk.
  have := @equal_letters_both_ways _ _ _ f a l k.-1 k.
  by rewrite !right /counts !count_letters leqnn; lia.
exists (count_net c k./2 k.-1./2); split; first by exists ((bool * bool)%type : finType).
  by rewrite card_bool.
have right := @count_recognises A c k./2 k.-1./2.
by move=> w; rewrite right /counts; [congr (_ <= _); lia | lia].
Qed.

(* Claim: least_depth/letters_both_ways. The words of at least k counted letters, of which a is one,
   take exactly floor(k / 2) + 1 layers of hard attention, whatever each head sees of what is
   before, at and after its position, and whichever side ties go to; two heads a layer do it. Of two
   words of letters a all nets of L layers agree exactly if both have 2 L - 1 letters, or as many.
   So no number of layers decides whether a length is even. Heads that look back take k layers, and
   tell L letters from fewer in L layers (HardAttention.v, `strict_hierarchy`). *)
Theorem letters_both_ways k : 0 < k ->
  [/\ least_layers 2 (counts k) (k./2 + 1),
      forall L n m, (forall disp (S : orderType disp) (f : net S A),
          accepts f L (nseq n a) = accepts f L (nseq m a)) <-> minn n L.*2.-1 = minn m L.*2.-1
    & forall disp (S : orderType disp) (f : net S A) L,
        ~ recognises f L (fun w => ~~ odd (size w))].
Proof.
move=> k0; split; first exact: counts_both_ways.
- move=> L n m; split=> [same|nm disp S f]; last first.
    case: (leqP L.*2.-1 n) nm => Ln nm; last by rewrite (_ : n = m) //; lia.
    by apply: equal_letters_both_ways; lia.
  have tell k1 : 0 < k1 -> k1 < L.*2 -> (k1 <= n) = (k1 <= m).
    move=> k10 k1L; have [[f [_ _ right]] _] := counts_both_ways k10.
    have kL : k1./2 + 1 <= L by lia.
    have [f' right'] := more_layers kL right.
    by have := same _ _ f'; rewrite !right' /counts !count_letters.
  by have := tell (minn n m).+1 isT; lia.
move=> disp S f L right.
have := @equal_letters_both_ways _ _ _ f a L L.*2 L.*2.+1.
by rewrite !right !size_nseq /= odd_double; lia.
Qed.

End AtLeast.

(* Claim: least_depth/letters_both_ways, where every letter counts: as `strict_hierarchy` has it for
   heads that look back, there with k layers. *)
Theorem at_least_both_ways (A : finType) (a : A) k :
  0 < k -> least_layers 2 (@at_least A k) (k./2 + 1).
Proof.
move=> k0; have [[[f [Q H right]] low] _ _] := @letters_both_ways _ predT a isT k k0.
have E (w : seq A) : counts predT k w = at_least k w by rewrite /counts count_predT.
split; first by exists f; split=> // w; rewrite right.
by move=> disp S g l right'; apply: (low _ _ g) => w; rewrite right'.
Qed.

(* --- as the claim says it, for k in binary --- *)

Definition letters_both_ways_value (k : N) : N := N.succ (N.div2 k).

Lemma letters_both_ways_valueE (k : nat) :
  letters_both_ways_value (bin_of_nat k) = bin_of_nat (k./2 + 1).
Proof. exact: blocks_valueE. Qed.

(* Claim: least_depth/letters_both_ways. The words of at least k > 0 counted letters, of which a is
   one, take `letters_both_ways_value k` layers of hard attention whose heads look both ways; of two
   words of letters a all nets of L layers agree exactly if both have 2 L - 1 letters, or as many;
   and no number of layers decides whether a length is even. *)
Theorem letters_both_ways_checked (A : finType) (c : pred A) (a : A) (k : N) :
  c a -> 0 < nat_of_bin k ->
  [/\ least_layers 2 (counts c (nat_of_bin k)) (nat_of_bin (letters_both_ways_value k)),
      forall L n m, (forall disp (S : orderType disp) (f : net S A),
          accepts f L (nseq n a) = accepts f L (nseq m a)) <-> minn n L.*2.-1 = minn m L.*2.-1
    & forall disp (S : orderType disp) (f : net S A) L,
        ~ recognises f L (fun w => ~~ odd (size w))].
Proof. by rewrite (value_of _ letters_both_ways_valueE) => ca; apply: letters_both_ways. Qed.

(* --- instances, and other constants --- *)

Example letters_both_ways_5 : least_layers 2 (counts (pred1 true) 5) 3.
Proof. by have [] := @letters_both_ways_checked _ (pred1 true) true 5 isT isT. Qed.

Example at_least_five : least_layers 2 (@at_least (bool : finType) 5) 3.
Proof. exact: (@at_least_both_ways _ true 5 isT). Qed.

(* Two layers find a letter with one on either side, whatever is between. *)
Example three_letters : let f := count_net (pred1 true) 1 1 in
  accepts f 2 [:: true; false; true; true] && ~~ accepts f 2 [:: false; true; true; false].
Proof. by have right := @count_recognises _ (pred1 true) 1 1 isT; cbv zeta; rewrite !right. Qed.

(* Not a layer for each letter; heads that look back do need that many. *)
Lemma letters_both_ways_not_each (A : finType) (a : A) k :
  2 < k -> ~ least_layers 2 (@at_least A k) k.
Proof.
move=> k2 h; have k0 : 0 < k by lia.
by have := BothWays.least_layers_unique h (at_least_both_ways a k0); lia.
Qed.

(* Half as many layers as letters are one too few. *)
Lemma letters_both_ways_not_half (A : finType) (a : A) k :
  0 < k -> ~ least_layers 2 (@at_least A k.*2) k.
Proof.
move=> k0 h; have k1 : 0 < k.*2 by lia.
by have := BothWays.least_layers_unique h (at_least_both_ways a k1); lia.
Qed.

(* No letter takes no layer, so k must be positive. *)
Lemma no_letter_both_ways (A : finType) : ~ least_layers 2 (@at_least A 0) (0./2 + 1).
Proof.
move=> [_ low]; suff : 1 <= 0 by [].
apply: (low _ _ (@Net _ (bool : orderType _) A unit (unit : finType)
  (fun _ _ => View true true true) (fun _ _ => leftmost) (fun=> tt) (fun _ _ _ _ => true)
  (fun _ _ _ => tt) (fun=> true))).
by move=> w.
Qed.

Example values :
  [seq letters_both_ways_value k | k <- [:: 1; 2; 3; 4; 5; 6; 7]]%num
  = [:: 1; 2; 2; 3; 3; 4; 4]%num.
Proof. by []. Qed.
