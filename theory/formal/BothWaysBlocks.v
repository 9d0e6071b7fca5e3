(* k blocks by hard attention that looks both ways: what can be saved is half the layers at most.

   The nets are those of BothWays.v. The word aabbaabb... of n letters and that of n + 4 look alike
   to L layers if n is at least 8 (L - 1) + 2 and 3: after one layer a place with three letters on a
   side knows no more of that side, and each further layer takes one period on either side. Heads
   that look back take floor(k / 2) + 1 layers (HardAttention.v, `blocks_rightmost`). *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.
From depthlaw Require Import HardAttention BothWays BothWaysCounts.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory.

(* --- blocks of letters: what no net can tell apart --- *)

Section Blocks.

Variables (disp : unit) (S : orderType disp) (f : net S bool).

(* Letters aabbaabb..., n of them, and the end. *)
Definition pairs n : seq bool := mkseq (fun i => i %% 4 < 2) n.
Definition paired n : seq (option bool) := rcons (map Some (pairs n)) None.

Lemma size_paired n : size (paired n) = n.+1.
Proof. by rewrite size_rcons size_map size_mkseq. Qed.

Lemma nth_paired n i : nth None (paired n) i = if i < n then Some (i %% 4 < 2) else None.
Proof.
rewrite /paired nth_rcons size_map size_mkseq; case: ltngtP => // ilt.
by rewrite (nth_map true) ?size_mkseq // nth_mkseq.
Qed.

Local Notation held n := (hold f (paired n)).

(* Four letters more, put in where a head sees all or nothing. *)
Lemma four_more n i i' p s X (score : X -> S) tie v (g g' : nat -> X) b :
  p + s <= n.+1 ->
  (forall k, k < p -> g k = g' k /\ sees v i k = sees v i' k) ->
  (forall k, p + s <= k <= n -> g k = g' k.+4 /\ sees v i k = sees v i' k.+4) ->
  (forall k, p <= k < p + s -> sees v i k = b) ->
  (forall k, p <= k < p + s.+4 -> sees v i' k = b) ->
  (forall xs zs, attend tie score (xs ++ [seq g' k | k <- iota p s.+4] ++ zs)
                 = attend tie score (xs ++ [seq g k | k <- iota p s] ++ zs)) ->
  attend tie score [seq g k | k <- iota 0 n.+1 & sees v i k]
  = attend tie score [seq g' k | k <- iota 0 n.+4.+1 & sees v i' k].
Proof.
move=> psn left right mid mid' same.
rewrite (_ : n.+4.+1 = p + (s.+4 + (n.+1 - (p + s)))); last by lia.
rewrite {1}(_ : n.+1 = p + (s + (n.+1 - (p + s)))); last by lia.
rewrite !(iotaD _ p) !(iotaD _ s) !(iotaD _ s.+4) !filter_cat !map_cat !add0n.
have all_or_none (h : nat -> X) j m : (forall k, p <= k < p + m -> sees v j k = b) ->
    [seq h k | k <- iota p m & sees v j k] = if b then [seq h k | k <- iota p m] else [::].
  move=> sb; rewrite (eq_in_filter (a2 := fun=> b)) => [|k]; last by rewrite mem_iota; apply: sb.
  by case: (b); rewrite ?filter_predT ?filter_pred0.
rewrite (all_or_none _ _ _ mid) (all_or_none _ _ _ mid').
rewrite (_ : [seq g' k | k <- iota 0 p & sees v i' k] = [seq g k | k <- iota 0 p & sees v i k]);
  last first.
  rewrite -(eq_in_filter (a1 := sees v i)) => [|k]; last by rewrite mem_iota => /left [].
  by apply/eq_in_map => k; rewrite mem_filter mem_iota => /andP [_ /left []].
rewrite (_ : [seq g' k | k <- iota (p + s.+4) _ & _]
           = [seq g k | k <- iota (p + s) (n.+1 - (p + s)) & sees v i k]); last first.
  rewrite (_ : p + s.+4 = 4 + (p + s)); last by lia.
  rewrite iotaDl filter_map -map_comp.
  rewrite -(eq_in_filter (a1 := sees v i)) => [|k]; last first.
    by rewrite mem_iota => kp; have [|_ ->] := right k; first lia.
  apply/eq_in_map => k; rewrite mem_filter mem_iota => /andP [_ kp] /=.
  by have [|->] := right k; first lia.
by case: (b); rewrite ?same.
Qed.

(* Of letters aab and of aabbaab a head sees the same. *)
Lemma attend_pairs X (score : X -> S) tie (x y : X) xs zs :
  attend tie score (xs ++ [:: x; x; y; y; x; x; y] ++ zs)
    = attend tie score (xs ++ [:: x; x; y] ++ zs) /\
  attend tie score (xs ++ [:: x; y; y; x; x; y; y] ++ zs)
    = attend tie score (xs ++ [:: x; y; y] ++ zs).
Proof.
have one a u : both tie score a (both tie score a u) = both tie score a u.
  by rewrite -both_assoc both_id.
have two a b u : both tie score a (both tie score b (both tie score a (both tie score b u)))
    = both tie score a (both tie score b u).
  by rewrite -!both_assoc (both_assoc tie score (both tie score a b) a b) both_id.
have split7 (a b c d e h k : X) : [:: a; b; c; d; e; h; k] ++ zs
    = [:: a] ++ [:: b] ++ [:: c] ++ [:: d] ++ [:: e] ++ [:: h] ++ [:: k] ++ zs by [].
have split3 (a b c : X) : [:: a; b; c] ++ zs = [:: a] ++ [:: b] ++ [:: c] ++ zs by [].
by rewrite !split7 !split3 !attend_cat !one !two.
Qed.

Lemma sees_before v i k : k < i -> sees v i k = before v.
Proof. by move=> ki; rewrite /sees ki ifF //; lia. Qed.

Lemma sees_behind v i k : i < k -> sees v i k = behind v.
Proof. by move=> ik; rewrite /sees !ifF //; lia. Qed.

(* After one layer a place with three letters before it, or behind it, holds what it holds with four
   letters more. *)
Lemma four_more_first n :
  (forall i, i + 3 < n -> held n 1 i = held n.+4 1 i) /\
  (forall i, 3 <= i <= n -> held n 1 i = held n.+4 1 i.+4).
Proof.
have first m j : held m 0 j = embed f (nth None (paired m) j) by [].
have same i : i < n -> held n 0 i = held n.+4 0 i.
  by move=> ilt; rewrite !first !nth_paired !ifT //; lia.
have next i : held n 0 i = held n.+4 0 i.+4.
  have mod4 : i.+4 %% 4 = i %% 4 by rewrite -addn4 modnDr.
  by rewrite !first !nth_paired mod4 !ltnS.
have put p : p + 3 <= n -> forall X (score : X -> S) tie (e : _ -> X) xs zs,
  attend tie score (xs ++ [seq e (nth None (paired n.+4) k) | k <- iota p 7] ++ zs)
  = attend tie score (xs ++ [seq e (nth None (paired n) k) | k <- iota p 3] ++ zs).
  move=> pn X score tie e xs zs.
  rewrite [iota p 7]/= [iota p 3]/= !map_cons [map _ [::]]/= !nth_paired.
  rewrite !ifT; try lia.
  have := divn_eq p 4; have : p %% 4 < 4 by rewrite ltn_mod.
  set q := p %/ 4; set r := p %% 4; move=> r4 ->.
  rewrite -!addnS !modnMDl.
  have [ab ba] := attend_pairs score tie (e (Some true)) (e (Some false)) xs zs.
  have [ba' ab'] := attend_pairs score tie (e (Some false)) (e (Some true)) xs zs.
  by case: r r4 => [|[|[|[|]]]].
have holdS m j : held m 1 j = join 0 (held m 0 j) [ffun h => attend (tie_of 0 h)
    (score 0 h (held m 0 j)) [seq held m 0 k | k <- iota 0 (size (paired m)) &
      sees (view_of 0 h) j k]] by [].
split=> i ilt; rewrite !holdS.
  rewrite -same; last by lia.
  congr join; apply/ffunP => h; rewrite !ffunE !size_paired.
  apply: (@four_more n i i i.+1 3 _ _ _ _ _ _ (behind (view_of 0 h))).
  - by lia.
  - by move=> k kp; rewrite same //; lia.
  - by move=> k kp; rewrite next !sees_behind //; lia.
  - by move=> k kp; rewrite sees_behind //; lia.
  - by move=> k kp; rewrite sees_behind //; lia.
  - by apply: put; lia.
rewrite -next; congr join; apply/ffunP => h; rewrite !ffunE !size_paired.
apply: (@four_more n i i.+4 0 3 _ _ _ _ _ _ (before (view_of 0 h))).
- by lia.
- by [].
- by move=> k kp; rewrite next.
- by move=> k kp; rewrite sees_before //; lia.
- by move=> k kp; rewrite sees_before //; lia.
- by apply: put; lia.
Qed.

(* So it is after more layers, of places further from either end. *)
Lemma four_more_letters n l : l * 8 + 2 <= n ->
  (forall i, i + l * 4 + 3 < n -> held n l.+1 i = held n.+4 l.+1 i) /\
  (forall i, l * 4 + 3 <= i <= n -> held n l.+1 i = held n.+4 l.+1 i.+4).
Proof.
elim: l => [|l IH] ln.
  by have [left right] := four_more_first n; split=> i ilt; [apply: left | apply: right]; lia.
have [left right] := IH ltac:(lia).
have holdS m j : held m l.+2 j = join l.+1 (held m l.+1 j) [ffun h => attend (tie_of l.+1 h)
    (score l.+1 h (held m l.+1 j)) [seq held m l.+1 k | k <- iota 0 (size (paired m)) &
      sees (view_of l.+1 h) j k]] by [].
have put p : l * 4 + 3 <= p -> p + 3 + l * 4 + 3 < n -> forall score tie xs zs,
  attend tie (score : _ -> S) (xs ++ [seq held n.+4 l.+1 k | k <- iota p 8] ++ zs)
  = attend tie score (xs ++ [seq held n l.+1 k | k <- iota p 4] ++ zs).
  move=> lp pn score tie xs zs; have -> : iota p 8 = iota p 4 ++ map (addn 4) (iota p 4).
    by rewrite -iotaDl addnC -iotaD.
  rewrite map_cat -map_comp.
  have -> : [seq held n.+4 l.+1 k | k <- iota p 4] = [seq held n l.+1 k | k <- iota p 4].
    by apply/eq_in_map => k; rewrite mem_iota => kp; rewrite left //; lia.
  have -> : map (held n.+4 l.+1 \o addn 4) (iota p 4) = [seq held n l.+1 k | k <- iota p 4].
    apply/eq_in_map => k; rewrite mem_iota => kp.
    by rewrite -[LHS]/(held n.+4 l.+1 k.+4) right //; lia.
  by rewrite -catA attend_twice.
split=> i ilt; rewrite !holdS.
  rewrite -left; last by lia.
  congr join; apply/ffunP => h; rewrite !ffunE !size_paired.
  apply: (@four_more n i i (maxn i.+1 (l * 4 + 3)) 4 _ _ _ _ _ _ (behind (view_of l.+1 h))).
  - by lia.
  - by move=> k kp; rewrite left //; lia.
  - by move=> k kp; rewrite right ?sees_behind //; lia.
  - by move=> k kp; rewrite sees_behind //; lia.
  - by move=> k kp; rewrite sees_behind //; lia.
  - by apply: put; lia.
rewrite -right; last by lia.
congr join; apply/ffunP => h; rewrite !ffunE !size_paired.
apply: (@four_more n i i.+4 (minn (i - 4) (n - (l * 4 + 7))) 4 _ _ _ _ _ _
  (before (view_of l.+1 h))).
- by lia.
- by move=> k kp; rewrite left ?sees_before //; lia.
- by move=> k kp; rewrite right //; lia.
- by move=> k kp; rewrite sees_before //; lia.
- by move=> k kp; rewrite sees_before //; lia.
- by apply: put; lia.
Qed.

(* L layers give aabbaabb... of n letters and of four letters more one answer. *)
Theorem pairs_alike L n : 0 < L -> (L.-1 * 8 + 2 <= n) -> 2 < n ->
  accepts f L (pairs n) = accepts f L (pairs n.+4).
Proof.
case: L => // l _ ln n3; rewrite /accepts !size_mkseq; congr accept.
by have [_ ->] := four_more_letters ln; last lia.
Qed.

End Blocks.

Lemma changes_rcons x w y : changes x (rcons w y) = changes x w + (last x w != y).
Proof. by elim: w x => [|z w IH] x /=; rewrite ?addn0 // IH addnA. Qed.

Lemma pairsS k : pairs k.+1.*2 = rcons (rcons (pairs k.*2) (~~ odd k)) (~~ odd k).
Proof.
rewrite doubleS /pairs !mkseqS; congr (rcons (rcons _ _) _); have := odd_double_half k; lia.
Qed.

(* They have k blocks, the first of letters a. *)
Lemma blocks_pairs k : blocks k (pairs k.*2).
Proof.
case: k => // k; have [] : changes true (pairs k.+1.*2) = k /\ last true (pairs k.+1.*2) = ~~ odd k.
  elim: k => // k [IHc IHl]; rewrite pairsS !changes_rcons !last_rcons IHc IHl /=.
  by split=> //; case: odd => /=; lia.
by rewrite doubleS /pairs /mkseq /= => ->.
Qed.

Lemma blocks_unique k k' w : blocks k w -> blocks k' w -> k = k'.
Proof.
case: w => [|x w] /=; first by move=> /eqP -> /eqP.
by move=> /andP [_ /eqP ->] /andP [_ /eqP].
Qed.

(* What looking both ways can save of the layers for blocks: at most half. That so many layers do is
   not proved here. *)
Theorem blocks_both_ways_lower k disp (S : orderType disp) (f : net S bool) l :
  1 < k -> recognises f l (blocks k) -> (k + 3) %/ 4 + 1 <= l.
Proof.
move=> k1 right; rewrite addn1 ltnNge; apply/negP => lk.
have [f' right'] := more_layers lk right.
have := @pairs_alike _ _ f' ((k + 3) %/ 4) k.*2; rewrite !right' blocks_pairs => same.
have /(blocks_unique (blocks_pairs k.+2)) : blocks k (pairs k.+2.*2) by rewrite -same //; lia.
lia.
Qed.

(* Three layers, whatever they are, take nine blocks of two letters and eleven for one. *)
Example nine_blocks disp (S : orderType disp) (f : net S bool) :
  accepts f 3 (pairs 18) = accepts f 3 (pairs 22).
Proof. exact: pairs_alike. Qed.

(* They have the same number of blocks modulo 2, the same first letter and the same last one. *)
Example nine_blocks_word : blocks 9 (pairs 18) && blocks 11 (pairs 22).
Proof. by rewrite (blocks_pairs 9) (blocks_pairs 11). Qed.
