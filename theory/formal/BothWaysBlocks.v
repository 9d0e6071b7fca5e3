(* k blocks by hard attention that looks both ways: half the layers are saved.

   The nets are those of BothWays.v. The word aabbaabb... of n letters and that of n + 4 look alike
   to L layers if n is at least 8 (L - 1) + 2 and 3: after one layer a place with three letters on a
   side knows no more of that side, and each further layer takes one period on either side. Heads
   that look back take floor(k / 2) + 1 layers (HardAttention.v, `blocks_rightmost`); these take
   ceil(k / 4) + 1. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.
From Depthlaw Require Import HardAttention BothWays BothWaysCounts.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory.

(* --- blocks of letters: what no net can tell apart --- *)

Section Blocks.

Variables (disp : Order.disp_t) (S : orderType disp) (f : net S bool).

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

(* What a head shows of all places before its own, and of all after it. *)
Definition past v := sees v 1 0.
Definition future v := sees v 0 1.

Lemma sees_before v i k : k < i -> sees v i k = past v.
Proof. by move=> ki; rewrite /sees ki ifF //; lia. Qed.

Lemma sees_behind v i k : i < k -> sees v i k = future v.
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
  apply: (@four_more n i i i.+1 3 _ _ _ _ _ _ (future (view_of 0 h))).
  - by lia.
  - by move=> k kp; rewrite same //; lia.
  - by move=> k kp; rewrite next !sees_behind //; lia.
  - by move=> k kp; rewrite sees_behind //; lia.
  - by move=> k kp; rewrite sees_behind //; lia.
  - by apply: put; lia.
rewrite -next; congr join; apply/ffunP => h; rewrite !ffunE !size_paired.
apply: (@four_more n i i.+4 0 3 _ _ _ _ _ _ (past (view_of 0 h))).
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
  apply: (@four_more n i i (maxn i.+1 (l * 4 + 3)) 4 _ _ _ _ _ _ (future (view_of l.+1 h))).
  - by lia.
  - by move=> k kp; rewrite left //; lia.
  - by move=> k kp; rewrite right ?sees_behind //; lia.
  - by move=> k kp; rewrite sees_behind //; lia.
  - by move=> k kp; rewrite sees_behind //; lia.
  - by apply: put; lia.
rewrite -right; last by lia.
congr join; apply/ffunP => h; rewrite !ffunE !size_paired.
apply: (@four_more n i i.+4 (minn (i - 4) (n - (l * 4 + 7))) 4 _ _ _ _ _ _
  (past (view_of l.+1 h))).
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

(* What looking both ways can save of the layers for blocks: half. *)
Theorem blocks_both_ways_lower k disp (S : orderType disp) (f : net S bool) l :
  1 < k -> recognises f l (blocks k) -> (k + 3) %/ 4 + 1 <= l.
Proof.
move=> k1 right; rewrite addn1 ltnNge; apply/negP => lk.
have [f' right'] := more_layers lk right.
have := @pairs_alike _ _ f' ((k + 3) %/ 4) k.*2; rewrite !right' blocks_pairs => same.
have /(blocks_unique (blocks_pairs k.+2)) : blocks k (pairs k.+2.*2) by rewrite -same //; lia.
lia.
Qed.

(* --- how many changes of letter are before a place, and how many after it --- *)

Section Changes.

Variable w : seq bool.

Local Notation W i := (nth true w i).

Definition upto i := count (fun j => W j != W j.+1) (iota 0 i).
Definition total := upto (size w).-1.
Definition first i := (0 < i) && (W i.-1 != W i).
Definition final i := (i.+1 < size w) && (W i != W i.+1).

Lemma uptoS i : upto i.+1 = upto i + (W i != W i.+1).
Proof. by rewrite /upto iota_rcons -cats1 count_cat /= addn0. Qed.

Lemma upto_le i j : i <= j -> upto i <= upto j.
Proof. by move=> /subnK <-; elim: (j - i) => // d IH; rewrite addSn uptoS; lia. Qed.

Lemma upto_total i : i < size w -> upto i <= total.
Proof. by move=> iw; apply: upto_le; lia. Qed.

Lemma upto_letter i : W i = W 0 (+) odd (upto i).
Proof.
elim: i => [|i IH]; first by rewrite addbF.
by rewrite uptoS oddD addbA -IH; case: (W i); case: (W i.+1).
Qed.

Lemma same_letter i j : (W i == W j) = (odd (upto i) == odd (upto j)).
Proof.
rewrite (upto_letter i) (upto_letter j).
by case: (nth true w 0); case: (odd (upto i)); case: (odd (upto j)).
Qed.

Lemma first_upto i : first i -> (upto i = (upto i.-1).+1) * (0 < i).
Proof. by case: i => // i /andP [_ /= ne]; rewrite uptoS ne addn1. Qed.

Lemma final_upto i : final i -> (upto i.+1 = (upto i).+1) * (i.+1 < size w).
Proof. by move=> /andP [iw ne]; rewrite uptoS ne addn1. Qed.

(* Of each number of changes there is a place, which is the first with so many, and one that is the
   last. *)
Lemma first_with v i : v <= upto i -> exists2 j, j <= i & upto j = v /\ (0 < v -> first j).
Proof.
elim: i => [|i IH]; first by rewrite leqn0 => /eqP ->; exists 0.
rewrite uptoS => vi; case: (leqP v (upto i)) => vi'.
  by have [j ji jv] := IH vi'; exists j; first apply: leqW.
exists i.+1 => //; rewrite uptoS; move: vi vi'; rewrite /first /=; case: eqP => /= _; last by lia.
by lia.
Qed.

Lemma final_with v i : i < size w -> upto i <= v <= total ->
  exists2 j, i <= j < size w & upto j = v /\ (v < total -> final j).
Proof.
have [d] := ubnP (size w - i); elim: d i => // d IH i di iw iv.
case: (leqP (size w) i.+1) => iw'.
  have E : i = (size w).-1 by lia.
  by exists i; [lia | rewrite /total -E in iv *; lia].
case: (leqP (upto i.+1) v) => iv'.
  by have [|||j jw jv] := IH i.+1; try lia; exists j; first lia.
exists i; first by lia.
move: iv'; rewrite uptoS /final iw' => iv'; split; first by lia.
by case: eqP iv' => //=; lia.
Qed.

End Changes.

Lemma total_changes x w : total (x :: w) = changes x w.
Proof.
rewrite /total /upto /=; elim: w x => // y w IH x.
rewrite [size _]/= -[iota 0 _]/(0 :: iota 1 (size w)) /= -(IH y); congr (_ + _).
by rewrite (iotaDl 1 0) count_map.
Qed.

Lemma found_has X tie (p : pred X) (g : nat -> X) (q : pred nat) m :
  isSome (keep p (attend tie (p : X -> bool) [seq g k | k <- iota 0 m & q k]))
  = has (fun k => q k && p (g k)) (iota 0 m).
Proof.
rewrite attend_any has_map has_filter -filter_predI -has_filter.
by apply: eq_has => k /=; rewrite andbC.
Qed.

(* --- a net that finds a block with enough blocks on both sides --- *)

Section Net.

(* P changes are asked for before a place, and 2 t - 1 after it. *)
Variables (P t : nat).

Local Notation letter_of key := (key.1 : option bool).

(* Besides its letter a place holds whether it is the first of its block with enough changes before
   it, whether it is the last with enough changes after it, and whether there are enough after it
   and one more. *)
Definition sides_score (l : nat) (h : option (bool * bool))
    (own key : option bool * (bool * bool * bool)) : bool :=
  if l < t then
    match h with
    | None => (if letter_of own is Some y then letter_of key == Some (~~ y) else false) && key.2.1.2
    | Some (_, true) => true
    | Some (back, false) =>
        (letter_of key == letter_of own) && (if back then key.2.1.1 else key.2.1.2)
    end
  else if h is Some (_, x) then
    (letter_of key == Some (x (+) odd P)) && key.2.1.1 && key.2.2
  else false.

Definition differs (own : option bool) (u : option (option bool * (bool * bool * bool))) : bool :=
  if own is Some y then (if u is Some key then letter_of key == Some (~~ y) else false) else false.

Definition sides_net : net (bool : orderType _) bool :=
  @Net _ _ bool ((option bool * (bool * bool * bool))%type : finType) ((option (bool * bool))%type : finType)
    (fun _ h => if h is Some (true, _) then View true false false else View false false true)
    (fun _ h => if h is Some (true, _) then rightmost else leftmost)
    (fun x => (x, (true, true, false)))
    sides_score
    (fun l own u =>
      let found h := isSome (keep (sides_score l h own) (u h)) in
      (own.1,
       if l < t then
         (if l < uphalf P then
            differs own.1 (u (Some (true, true)))
              && ((odd P && (l == 0)) || found (Some (true, false)))
          else own.2.1.1,
          differs own.1 (u (Some (false, true))) && found (Some (false, false)),
          found None)
       else (found (Some (true, true)), found (Some (true, false)), false)))
    (fun s => s.2.1.1 && ~~ s.2.1.2).

Variable w : seq bool.

Local Notation text := (rcons (map Some w) None).
Local Notation W i := (nth true w i).
Local Notation n := (size w).

Definition early s i := (s == 0) || first w i && (s.*2 - odd P <= upto w i).
Definition late s i := (s == 0) || final w i && (s.*2 <= total w - upto w i).
Definition later s i := (0 < s) && (s.*2.-1 <= total w - upto w i).

Lemma letter_held s i : (hold sides_net text s i).1 = nth None text i.
Proof. by elim: s i => [|s IH] i //=; rewrite IH. Qed.

Lemma text_letter i : i < n -> nth None text i = Some (W i).
Proof. by move=> iw; rewrite nth_rcons size_map iw (nth_map true). Qed.

Lemma text_end i : n <= i -> nth None text i = None.
Proof.
by move=> iw; rewrite nth_rcons size_map ltnNge iw /=; case: eqP.
Qed.

Lemma early_step s i : i < n -> (0 < s) || ~~ odd P ->
  first w i && has (fun j => (j < i) && ((W j == W i) && early s j)) (iota 0 n.+1)
  = early s.+1 i.
Proof.
move=> iw sP; rewrite /early; set A := has _ _; case fi: (first w i) => //=; rewrite {}/A.
have [iE i0] := first_upto fi.
apply/hasP/idP => [[j _ /andP [ji /andP []]]|le].
  rewrite same_letter => /eqP odds D; have ji1 : j <= i.-1 by lia.
  have := upto_le w ji1; case: (posnP s) sP D => [-> /=|s0 _ D]; first by case: odd; lia.
  by move: D => /= /andP [_]; lia.
have [|j ji [jv jf]] := @first_with w (upto w i - 2) i; first lia.
have P1 : odd P <= 1 by case: odd.
have two : 2 <= upto w i by move: sP le; case: odd; lia.
have jlt : j < i by case: (ltngtP j i) ji jv => // -> _; lia.
exists j; first by rewrite mem_iota; lia.
rewrite jlt same_letter jv oddB //= addbF eqxx /=.
by case: (posnP s) => // s0; rewrite jf /=; move: le sP; case: odd; lia.
Qed.

Lemma late_step s i : i < n ->
  final w i && has (fun j => (i < j) && ((j < n) && ((W j == W i) && late s j))) (iota 0 n.+1)
  = late s.+1 i.
Proof.
move=> iw; rewrite /late; set A := has _ _; case fi: (final w i) => //=; rewrite {}/A.
have [iE i0] := final_upto fi; have iT := upto_total i0.
apply/hasP/idP => [[j _ /andP [ij /andP [jn /andP []]]]|le].
  rewrite same_letter => /eqP odds D.
  have := upto_le w ij; have := upto_total jn; case: (posnP s) D => [-> _|s0]; first by lia.
  by move=> /= /andP [_]; lia.
have [||j /andP [ij jn] [jv jf]] := @final_with w (upto w i + 2) i; [lia | lia |].
have jlt : i < j by case: (ltngtP i j) ij jv => // -> _; lia.
exists j; first by rewrite mem_iota; lia.
rewrite jlt jn same_letter jv oddD addbF eqxx /=.
by case: (posnP s) => // s0; rewrite jf /=; lia.
Qed.

Lemma later_step s i : i < n ->
  has (fun j => (i < j) && ((j < n) && ((W j != W i) && late s j))) (iota 0 n.+1) = later s.+1 i.
Proof.
move=> iw; rewrite /late /later ltn0Sn andTb; have iT := upto_total iw.
apply/hasP/idP => [[j _ /andP [ij /andP [jn /andP []]]]|le].
  rewrite same_letter => odds D.
  have := upto_le w (ltnW ij); have := upto_total jn.
  have ne : upto w j != upto w i by apply: contra odds => /eqP ->.
  by case: (posnP s) D => [-> _|s0]; last (rewrite orFb => /andP [_]); lia.
have [||j /andP [ij jn] [jv jf]] := @final_with w (upto w i + 1) i; [lia | lia |].
have jlt : i < j by case: (ltngtP i j) ij jv => // -> _; lia.
exists j; first by rewrite mem_iota; lia.
rewrite jlt jn same_letter jv oddD /=; case: (odd (upto w i)) => /=;
  by case: (posnP s) => // s0; rewrite jf ?orFb ?andTb; lia.
Qed.

Hypothesis Pt : uphalf P <= t.

Definition holds s i := (Some (W i), (early (minn s (uphalf P)) i, late s i, later s i)).

Lemma sees_past i k : sees (View true false false) i k = (k < i).
Proof. by rewrite /sees; case: ltngtP. Qed.

Lemma sees_future i k : sees (View false false true) i k = (i < k).
Proof. by rewrite /sees; case: ltngtP. Qed.

Lemma first_seen s i own : i < n -> s < t ->
  differs (Some (W i)) (attend rightmost (sides_score s (Some (true, true)) own)
    [seq hold sides_net text s j | j <- iota 0 n.+1 & sees (View true false false) i j])
  = first w i.
Proof.
move=> iw st; case: i iw => [|i] iw.
  by rewrite (eq_filter (a2 := pred0)) ?filter_pred0 // => k; rewrite sees_past.
rewrite (@chosen_attended _ _ _ _ _ _ _ _ i); last first.
  split; rewrite ?sees_past //; first by lia.
    by move=> k ki _; rewrite /sides_score st.
  by move=> k ki; rewrite sees_past; lia.
rewrite /first /= letter_held text_letter; last by lia.
by case: (W i); case: (W i.+1).
Qed.

Lemma final_seen s i own : i < n -> s < t ->
  differs (Some (W i)) (attend leftmost (sides_score s (Some (false, true)) own)
    [seq hold sides_net text s j | j <- iota 0 n.+1 & sees (View false false true) i j])
  = final w i.
Proof.
move=> iw st; rewrite (@chosen_attended _ _ _ _ _ _ _ _ i.+1); last first.
  split; rewrite ?sees_future //.
    by move=> k ki; rewrite sees_future; lia.
  by move=> k ki _; rewrite /sides_score st.
rewrite /final /= letter_held; case: ltnP => iw'; last by rewrite text_end.
by rewrite text_letter //; case: (W i); case: (W i.+1).
Qed.

Lemma sides_held s i : i < n -> s <= t -> hold sides_net text s i = holds s i.
Proof.
elim: s i => [|s IH] i iw st; first by rewrite /= text_letter // /holds min0n.
have st' := ltnW st.
rewrite [LHS]/= !ffunE st IH // [(holds s i).1]/= [(holds s i).2]/=.
rewrite !found_has size_rcons size_map first_seen // final_seen // /holds.
congr (_, (_, _, _)).
- case: ltnP => su; last by congr (early _ i); lia.
  rewrite [in RHS](minn_idPl su).
  have [/andP [oP /eqP s0]|sP] := boolP (odd P && (s == 0)).
    rewrite /early s0 oP andbT; case fi: (first w i) => //=.
    by have [-> _] := first_upto fi.
  rewrite orFb -early_step //; last by move: sP; rewrite negb_and orbC lt0n.
  congr andb; apply/eq_in_has => k; rewrite mem_iota sees_past => kn.
  case: ltnP => // ki; rewrite IH ?(ltn_trans ki) //.
  by rewrite /sides_score st /holds /= (minn_idPl (ltnW su)).
- rewrite -late_step //; congr andb; apply/eq_in_has => k; rewrite mem_iota sees_future => kn.
  case: ltnP => // ik; case: ltnP => kn'; first by rewrite IH // /sides_score st.
  by rewrite /sides_score st letter_held text_end.
rewrite -later_step //; apply/eq_in_has => k; rewrite mem_iota sees_future => kn.
case: ltnP => // ik; case: ltnP => kn'; last by rewrite /sides_score st letter_held text_end.
by rewrite IH // /sides_score st /=; case: (W k); case: (W i).
Qed.

Lemma sides_accepts : 0 < t ->
  accepts sides_net t.+1 w
  = has (fun k => [&& W k == true (+) odd P, early (uphalf P) k & later t k]) (iota 0 n)
    && ~~ has (fun k => [&& W k == false (+) odd P, early (uphalf P) k & later t k]) (iota 0 n).
Proof.
move=> t0; rewrite /accepts [hold _ _ _ _]/= !ffunE ltnn.
rewrite [accept _]/= !found_has size_rcons size_map.
have E x : has (fun k => sees (View true false false) n k && sides_score t (Some (true, x))
      (hold sides_net text t n) (hold sides_net text t k)) (iota 0 n.+1)
    = has (fun k => [&& W k == x (+) odd P, early (uphalf P) k & later t k]) (iota 0 n).
  rewrite iota_rcons has_rcons sees_past ltnn orFb; apply/eq_in_has => k.
  rewrite mem_iota add0n => /andP [_ kn].
  by rewrite sees_past kn /sides_score ltnn sides_held // /holds (minn_idPr Pt) /= -andbA.
by rewrite !E.
Qed.

Lemma place_with x : 0 < t -> 0 < n ->
  has (fun k => [&& W k == x (+) odd P, early (uphalf P) k & later t k]) (iota 0 n)
  = (P + (x != W 0) + t.*2.-1 <= total w).
Proof.
move=> t0 n0; have PE : (uphalf P).*2 - odd P = P by lia.
apply/hasP/idP => [[k]|le].
  rewrite mem_iota add0n => /andP [_ kn] /and3P [/eqP Wk ek /andP [_ lk]].
  have Pk : P <= upto w k.
    by move: ek; rewrite /early PE => /orP [/eqP|/andP [_ //]]; lia.
  have kT := upto_total kn; suff : P + (x != W 0) <= upto w k by lia.
  case: eqP => xW; first by rewrite addn0.
  rewrite addn1 ltn_neqAle Pk andbT; apply/eqP => Pu; apply: xW.
  by move: Wk; rewrite (upto_letter w k) -Pu; case: x; case: (W 0); case: odd.
have [|j jn [jv jf]] := @first_with w (P + (x != W 0)) n.-1; first by rewrite -/(total w); lia.
exists j; first by rewrite mem_iota; lia.
apply/and3P; split.
- by rewrite (upto_letter w j) jv oddD; case: x {le jv jf}; case: (W 0); case: odd.
- rewrite /early PE jv leq_addr andbT; case: (posnP P) => [->|P0] //.
  by rewrite jf ?orbT //; lia.
by rewrite /later t0 jv /=; lia.
Qed.

End Net.

Lemma sides_recognises k : 1 < k ->
  recognises (sides_net (k - ((k + 3) %/ 4).*2) ((k + 3) %/ 4)) ((k + 3) %/ 4).+1 (blocks k).
Proof.
move=> k1 w; set t := (k + 3) %/ 4; set P := k - t.*2.
have t0 : 0 < t by rewrite /t; lia.
have Pt : uphalf P <= t by rewrite /P /t; lia.
have Pk : P + t.*2.-1 = k.-1 by rewrite /P /t; lia.
rewrite sides_accepts //; case: w => [|x w]; first by rewrite /=; case: eqP k1 => // ->.
rewrite !place_with // total_changes /blocks [nth _ _ 0]/= -!addnA ![_ + t.*2.-1]addnC !addnA Pk.
by case: x; rewrite /= ?addn0 ?addn1; lia.
Qed.

(* Claim: least_depth/blocks_both_ways. k > 1 blocks take exactly ceil(k / 4) + 1 layers of hard
   attention, whatever each head sees of what is before, at and after its position, and whichever
   side ties go to; five heads a layer do it. *)
Theorem blocks_both_ways k : 1 < k -> least_layers 5 (blocks k) ((k + 3) %/ 4 + 1).
Proof.
move=> k1; split; last by move=> disp S f l; apply: blocks_both_ways_lower.
exists (sides_net (k - ((k + 3) %/ 4).*2) ((k + 3) %/ 4)); split.
- by exists ((option bool * (bool * bool * bool))%type : finType).
- by rewrite card_option card_prod card_bool.
by rewrite addn1; apply: sides_recognises.
Qed.


(* --- as the claim says it, for k in binary --- *)

Definition blocks_both_ways_value (k : N) : N := N.succ (N.div2 (N.div2 (k + 3))).

Lemma blocks_both_ways_valueE (k : nat) :
  blocks_both_ways_value (bin_of_nat k) = bin_of_nat ((k + 3) %/ 4 + 1).
Proof.
have div2E m : PeanoNat.Nat.div2 m = m./2.
  by elim/ltn_ind: m => -[|[|m]] IH //=; rewrite -IH.
rewrite /blocks_both_ways_value !of_nat_bin -[3%num]/(N.of_nat 3) -Nnat.Nat2N.inj_add.
rewrite -!Nnat.Nat2N.inj_div2 -Nnat.Nat2N.inj_succ !div2E; congr N.of_nat; lia.
Qed.

(* Claim: least_depth/blocks_both_ways. k > 1 blocks take `blocks_both_ways_value k` layers of hard
   attention whose heads look both ways. *)
Theorem blocks_both_ways_checked (k : N) : 1 < nat_of_bin k ->
  least_layers 5 (blocks (nat_of_bin k)) (nat_of_bin (blocks_both_ways_value k)).
Proof. by rewrite (value_of _ blocks_both_ways_valueE); apply: blocks_both_ways. Qed.

(* --- instances, and other constants --- *)

(* Three layers, whatever they are, take nine blocks of two letters and eleven for one. *)
Example nine_blocks disp (S : orderType disp) (f : net S bool) :
  accepts f 3 (pairs 18) = accepts f 3 (pairs 22).
Proof. exact: pairs_alike. Qed.

(* They have the same number of blocks modulo 2, the same first letter and the same last one. *)
Example nine_blocks_word : blocks 9 (pairs 18) && blocks 11 (pairs 22).
Proof. by rewrite (blocks_pairs 9) (blocks_pairs 11). Qed.

Example blocks_both_ways_8 : least_layers 5 (blocks 8) 3.
Proof. exact: (@blocks_both_ways_checked 8). Qed.

(* As many layers as heads take that look back would be too many. *)
Lemma blocks_both_ways_not_half k : 5 < k -> ~ least_layers 5 (blocks k) (k./2 + 1).
Proof.
move=> k5 h; have k1 : 1 < k by lia.
by have := BothWays.least_layers_unique h (blocks_both_ways k1); lia.
Qed.
