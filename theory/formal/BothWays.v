(* Hard attention that looks both ways: brackets nested to depth D take D + 1 layers still.

   The nets are those of HardAttention.v, except that each head of each layer has its own side for
   ties, and a view: it sees any of what is before the position, the position, and what is after it.
   They are transformers (Bridges.both_ways_transformer).

   The lower bound is a game. Let Sigma_m be the formulas of first-order logic with order that begin
   with an existential quantifier and have at most m blocks of quantifiers. L layers give two words
   one answer if all that Sigma_(L+1) says of the first is true of the second (`sigma_alike`). There
   are such words for D layers, one of them nested to depth D and the other not (`dyck_not_sigma`).
   Kin to that is classical: the dot-depth hierarchy is infinite (Brzozowski and Knast 1978; by a
   game of concatenations: Thomas 1987), as recalled. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.
From Depthlaw Require Import HardAttention.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory.

(* --- nets --- *)

(* Which positions a head sees: those before its own, its own, those after it. *)
Record view := View { before : bool; itself : bool; ahead : bool }.

Definition sees (m : view) (i j : nat) : bool :=
  if j == i then itself m else if j < i then before m else ahead m.

Section Nets.

Variables (disp : Order.disp_t) (S : orderType disp).

(* As in HardAttention.v, but each head of each layer has a view and a side for ties. The letter
   None stands at the end. *)
Record net (A : Type) := Net
  { state : Type;
    heads : finType;
    view_of : nat -> heads -> view;
    tie_of : nat -> heads -> side;
    embed : option A -> state;
    score : nat -> heads -> state -> state -> S;
    join : nat -> state -> {ffun heads -> option state} -> state;
    accept : state -> bool }.

(* The state of position i of a text after L layers. *)
Fixpoint hold A (f : net A) (text : seq (option A)) (L i : nat) : state f :=
  if L is l.+1 then
    let own := hold f text l i in
    join l own [ffun h => attend (tie_of l h) (score l h own)
      [seq hold f text l j | j <- iota 0 (size text) & sees (view_of l h) i j]]
  else embed f (nth None text i).

(* A word is read at the end. *)
Definition accepts A (f : net A) L (w : seq A) : bool :=
  accept (hold f (rcons (map Some w) None) L (size w)).

Definition recognises A (f : net A) L (language : pred (seq A)) :=
  forall w, accepts f L w = language w.

End Nets.

Definition finite_states disp (S : orderType disp) A (f : net S A) :=
  exists Q : finType, Finite.sort Q = state f.

(* L is the least number of layers for a language: a net of finitely many states, H heads a layer
   and scores 0 and 1 does it with L layers; no net of fewer layers does, whatever its states, its
   scores in an ordered set, its views, its sides for ties and its number of heads. *)
Definition least_layers H A (language : pred (seq A)) (L : nat) :=
  (exists f : net (bool : orderType _) A,
     [/\ finite_states f, #|heads f| <= H & recognises f L language]) /\
  (forall disp (S : orderType disp) (f : net S A) l, recognises f l language -> L <= l).

(* --- the game --- *)

Section Below.

Variables (A : Type).
Implicit Types (u v w x t : seq A) (a : A).

(* What sentences of Sigma_m of quantifier depth r say of u is true of v: whatever letter of u is
   chosen, one of v answers, with what is left of it and right of it in this relation again; and the
   words may be turned round, at the price of a block of quantifiers. That it says that is not
   used. *)
Fixpoint below (m : nat) : nat -> seq A -> seq A -> Prop :=
  if m is m'.+1 then
    fix game r u v := if r is r'.+1 then
      below m' r v u /\
      forall u' a u'', u = u' ++ a :: u'' ->
        exists v' v'', [/\ v = v' ++ a :: v'', game r' u' v' & game r' u'' v'']
    else True
  else fun _ _ _ => True.

Lemma belowS m r u v : below m.+1 r.+1 u v =
  (below m r.+1 v u /\ forall u' a u'', u = u' ++ a :: u'' ->
     exists v' v'', [/\ v = v' ++ a :: v'', below m.+1 r u' v' & below m.+1 r u'' v'']).
Proof. by []. Qed.

Lemma below_refl m r u : below m r u u.
Proof.
elim: m r u => // m IHm; elim=> // r IHr u; rewrite belowS; split; first exact: IHm.
by move=> u' a u'' ->; exists u', u''.
Qed.
Hint Resolve below_refl : core.

Lemma below_trans m r u v w : below m r u v -> below m r v w -> below m r u w.
Proof.
elim: m r u v w => // m IHm; elim=> // r IHr u v w; rewrite !belowS => -[vu uv] [wv vw].
split; first exact: IHm wv vu.
move=> u' a u'' /uv [v' [v'' [/vw [w' [w'' [-> vw' vw'']]] uv' uv'']]].
by exists w', w''; split=> //; [apply: IHr vw' | apply: IHr vw''].
Qed.

Lemma below_rounds m r r' u v : r' <= r -> below m r u v -> below m r' u v.
Proof.
elim: m r r' u v => // m IHm; elim=> [|r IHr] [|r'] u v // rr; rewrite !belowS => -[vu uv].
split; first exact: IHm vu.
move=> u' a u'' /uv [v' [v'' [-> uv' uv'']]].
by exists v', v''; split=> //; apply: IHr.
Qed.

Lemma below_blocks m r u v : below m.+1 r u v -> below m r u v.
Proof.
elim: m r u v => // m IHm; elim=> // r IHr u v; rewrite !(belowS _ r) => -[vu uv].
split; first exact: IHm.
move=> u' a u'' /uv [v' [v'' [-> uv' uv'']]].
by exists v', v''; split=> //; apply: IHr.
Qed.

Lemma below_turned m r u v : below m.+1 r u v -> below m r v u.
Proof. by case: r => [|r]; [case: m | case]. Qed.

Lemma cat_split u v u' a u'' : u ++ v = u' ++ a :: u'' ->
  (exists2 s, u = u' ++ a :: s & u'' = s ++ v) \/ (exists2 s, u' = u ++ s & v = s ++ a :: u'').
Proof.
elim: u u' => [|x u IH] [|y u'] /=.
- by move=> ->; right; exists [::].
- by move=> ->; right; exists (y :: u').
- by case=> -> <-; left; exists u.
- case=> -> /IH [[s -> ->]|[s -> ->]]; first by left; exists s.
  by right; exists s.
Qed.

Lemma below_cat m r u v u1 v1 : below m r u v -> below m r u1 v1 -> below m r (u ++ u1) (v ++ v1).
Proof.
elim: m r u v u1 v1 => // m IHm; elim=> // r IHr u v u1 v1 uv uv1.
have weak x y : below m.+1 r.+1 x y -> below m.+1 r x y by apply: below_rounds.
have [vu move_u] := uv; have [vu1 move_u1] := uv1; rewrite belowS; split; first exact: IHm.
move=> u' a u'' /cat_split [[s us ->]|[s -> us]].
  have [v' [v'' [-> uv' uv'']]] := move_u _ _ _ us.
  by exists v', (v'' ++ v1); split; rewrite -?catA //; apply: IHr => //; apply: weak.
have [v' [v'' [-> uv' uv'']]] := move_u1 _ _ _ us.
by exists (v ++ v'), v''; split; rewrite -?catA //; apply: IHr => //; apply: weak.
Qed.

(* --- powers --- *)

Definition power x n : seq A := flatten (nseq n x).

Lemma powerD x n k : power x (n + k) = power x n ++ power x k.
Proof. by rewrite /power nseqD flatten_cat. Qed.

Lemma powerS x n : power x n.+1 = x ++ power x n.
Proof. by []. Qed.

Lemma power_split x n u' a u'' : power x n = u' ++ a :: u'' ->
  exists i j s s', [/\ n = i + j.+1, x = s ++ a :: s', u' = power x i ++ s & u'' = s' ++ power x j].
Proof.
elim: n u' => [|n IH] u'; first by case: u'.
rewrite powerS => /cat_split [[s xs ->]|[s -> /IH [i [j [s1 [s2 [-> xs -> ->]]]]]]].
  by exists 0, n, u', s.
by exists i.+1, j, s1, s2; split; rewrite // powerS catA.
Qed.

(* So many powers look alike in r rounds. *)
Fixpoint enough (r : nat) : nat := if r is r'.+1 then (enough r').*2.+1 else 0.
Lemma enoughS r : enough r.+1 = (enough r).*2.+1. Proof. by []. Qed.

Lemma below_power m r x p q : enough r <= p -> enough r <= q -> below m r (power x p) (power x q).
Proof.
elim: m r p q => // m IHm; elim=> // r IHr p q rp rq; rewrite belowS; split; first exact: IHm.
rewrite enoughS in rp rq; set n := enough r in rp rq IHr *.
have answer i j i' j' s a s' : x = s ++ a :: s' -> q = i' + j'.+1 ->
    (i = i' \/ n <= i /\ n <= i') -> (j = j' \/ n <= j /\ n <= j') ->
    exists v' v'', [/\ power x q = v' ++ a :: v'',
      below m.+1 r (power x i ++ s) v' & below m.+1 r (s' ++ power x j) v''].
  move=> xs -> near_i near_j; exists (power x i' ++ s), (s' ++ power x j').
  split; first by rewrite powerD powerS {2}xs -!catA.
    by apply: below_cat => //; case: near_i => [->|[ni ni']] //; apply: IHr.
  by apply: below_cat => //; case: near_j => [->|[nj nj']] //; apply: IHr.
move=> u' a u'' /power_split [i [j [s [s' [pij xs -> ->]]]]].
case: (ltnP i n) => ni; first by apply: (answer i j i (q - i.+1)) => //; [lia | left | right; lia].
case: (ltnP j n) => nj; first by apply: (answer i j (q - j.+1) j) => //; [lia | right; lia | left].
by apply: (answer i j n (q - n.+1)) => //; [lia | right; lia | right; lia].
Qed.

(* If what Sigma_m says of t is true of a power of x, what Sigma_(m+1) says of a power of x stays
   true with t put into it. *)
Lemma below_inserted m r x t k p q q' :
  below m r t (power x k) -> enough r <= p -> enough r <= q -> enough r <= q' ->
  below m.+1 r (power x p) (power x q ++ t ++ power x q').
Proof.
elim: r p q q' => // r IHr p q q' tx rp rq rq'; rewrite belowS; split.
  apply: (@below_trans _ _ _ (power x q ++ power x k ++ power x q')).
    by apply: below_cat => //; apply: below_cat.
  by rewrite -!powerD; apply: below_power; lia.
have {}IHr p1 q1 q1' : enough r <= p1 -> enough r <= q1 -> enough r <= q1' ->
    below m.+1 r (power x p1) (power x q1 ++ t ++ power x q1').
  by apply: IHr; apply: below_rounds tx.
rewrite enoughS in rp rq rq'; set n := enough r in rp rq rq' IHr *.
move=> u' a u'' /power_split [i [j [s [s' [pij xs -> ->]]]]].
case: (ltnP j n) => nj.
  exists (power x q ++ t ++ power x (q' - j.+1) ++ s), (s' ++ power x j); split.
  - rewrite (_ : power x q' = power x (q' - j.+1 + j.+1)); last by congr power; lia.
    by rewrite powerD powerS {3}xs -!catA.
  - by rewrite !catA; apply: below_cat => //; rewrite -catA; apply: IHr; lia.
  - by [].
exists (power x (minn i n) ++ s), (s' ++ power x (q - (minn i n).+1) ++ t ++ power x q'); split.
- rewrite {1}(_ : q = minn i n + (q - (minn i n).+1).+1); last by lia.
  by rewrite powerD powerS {2}xs -!catA.
- by apply: below_cat => //; case: (leqP i n) => // ni; apply: below_power; lia.
- by apply: below_cat => //; apply: IHr; lia.
Qed.

End Below.
#[local] Hint Resolve below_refl : core.


Lemma has_split A (p : pred A) (u : seq A) : has p u -> exists s a s', u = s ++ a :: s' /\ p a.
Proof.
elim: u => //= a u IH /orP [pa|/IH [s [b [s' [-> pb]]]]]; first by exists [::], a, u.
by exists (a :: s), b, s'.
Qed.

Lemma below_has A (p : pred A) m r (u v : seq A) : below m.+1 r.+1 u v -> has p u -> has p v.
Proof.
rewrite belowS => -[_ uv] /has_split [s [a [s' [us pa]]]].
by have [v' [v'' [-> _ _]]] := uv _ _ _ us; rewrite has_cat /= pa orbT.
Qed.

Lemma map_split A B (g : A -> B) u s b s' : map g u = s ++ b :: s' ->
  exists t a t', [/\ u = t ++ a :: t', s = map g t, b = g a & s' = map g t'].
Proof.
elim: u s => [|a u IH] [|c s] //= [].
  by move=> <- <-; exists [::], a, u.
by move=> <- /IH [t [d [t' [-> -> -> ->]]]]; exists (a :: t), d, t'.
Qed.

Lemma below_map A B (g : A -> B) m r (u v : seq A) : below m r u v -> below m r (map g u) (map g v).
Proof.
elim: m r u v => // m IHm; elim=> // r IHr u v; rewrite !belowS => -[vu uv].
split; first exact: IHm.
move=> u' b u'' E; have [t [a [t' [ut -> -> ->]]]] := map_split E.
have [v' [v'' [-> uv' uv'']]] := uv _ _ _ ut.
by exists (map g v'), (map g v''); split; [rewrite map_cat | apply: IHr | apply: IHr].
Qed.

Lemma place A (u : seq A) i : i < size u -> exists s a s', u = s ++ a :: s' /\ size s = i.
Proof.
case: u => // a u iu; exists (take i (a :: u)), (nth a (a :: u) i), (drop i.+1 (a :: u)).
by rewrite -drop_nth // cat_take_drop size_takel // ltnW.
Qed.

(* --- what a head attends to --- *)

Section Chosen.

Variables (disp : Order.disp_t) (S : orderType disp) (X : Type) (tie : side) (score : X -> S).
Variables (g : nat -> X) (p : pred nat).

Local Notation attended n := (attend tie score [seq g j | j <- iota 0 n & p j]).

(* No position that is seen is preferred to j. *)
Definition chosen n j := [/\ j < n, p j,
  forall k, k < j -> p k -> later_wins tie (score (g k)) (score (g j)) &
  forall k, j < k < n -> p k -> ~~ later_wins tie (score (g j)) (score (g k))].

Lemma attendedS n :
  attended n.+1 = if p n then better tie score (attended n) (g n) else attended n.
Proof.
rewrite iota_rcons filter_rcons; case: ifP => // _.
by rewrite map_rcons attend_rcons.
Qed.

Lemma attended_none n k : attended n = None -> k < n -> ~~ p k.
Proof.
elim: n => // n IH; rewrite attendedS ltnS leq_eqVlt.
case pn: (p n); last by move=> /IH kn /orP [/eqP->|/kn]; rewrite ?pn.
by case: (attended n) => [b|] //=; case: ifP.
Qed.

Lemma attended_chosen n x : attended n = Some x -> exists2 j, chosen n j & g j = x.
Proof.
elim: n x => // n IH x; rewrite attendedS.
case pn: (p n); last first.
  move=> /IH [j [jn pj left right] <-]; exists j => //; split=> //; first exact: ltnW.
  move=> k; rewrite ltnS (leq_eqVlt k) => /andP [jk /orP [/eqP->|kn pk]]; first by rewrite pn.
  by apply: right; rewrite ?jk.
case E: (attended n) => [b|] /= => [|[<-]]; last first.
  exists n => //; split=> // k; first by move=> /(attended_none E) /negbTE ->.
  by rewrite ltnS; lia.
have [j [jn pj left right] gj] := IH _ E; rewrite -gj.
case: ifP => [wins [<-]|loses [<-]]; last first.
  exists j => //; split=> //; first exact: ltnW.
  move=> k; rewrite ltnS (leq_eqVlt k) => /andP [jk /orP [/eqP-> _|kn pk]]; first by rewrite loses.
  by apply: right; rewrite ?jk.
exists n => //; split=> // k; last by rewrite ltnS; lia.
move=> kn pk; case: (ltngtP k j) => [kj|jk|-> //].
  exact: later_wins_trans (left k kj pk) wins.
have := right k; rewrite jk kn pk => /(_ isT isT); case: (tie) wins => /= wins.
  by rewrite -leNgt => kj; apply: le_lt_trans wins.
by rewrite -ltNge => kj; apply: le_trans wins; apply: ltW.
Qed.

Lemma chosen_attended n j : chosen n j -> attended n = Some (g j).
Proof.
elim: n => [|n IH] [] // jn pj left right; rewrite attendedS.
move: jn; rewrite ltnS leq_eqVlt => /orP [/eqP jn|jn]; last first.
  rewrite IH; last by split=> // k /andP [jk kn]; apply: right; rewrite jk ltnW.
  by case pn: (p n) => //=; rewrite (negbTE (right n _ pn)) ?jn /=.
subst j; rewrite pj; case E: (attended n) => [b|] //=.
by have [k [kn pk _ _] <-] := attended_chosen E; rewrite left.
Qed.

End Chosen.

(* What two words show a head, where places of the same letter show the same as soon as what is left
   and right of them is related. *)
Section Answers.

Variables (disp : Order.disp_t) (S : orderType disp) (X T : Type) (m r : nat).
Implicit Types (M N : seq T) (g : nat -> X) (p : pred nat).

Definition answers M N g p g' p' := forall s x s' t t', M = s ++ x :: s' -> N = t ++ x :: t' ->
  below m.+1 r s t -> below m.+1 r s' t' -> g (size s) = g' (size t) /\ p (size s) = p' (size t).

Lemma seen_answers M N g p g' p' i : answers M N g p g' p' -> below m.+1 r.+1 M N ->
  i < size M -> p i -> exists2 j, j < size N & p' j.
Proof.
move=> same; rewrite belowS => -[_ MN] iM; have [s [x [s' [Ms <-]]]] := place iM.
have [t [t' [Nt st st']]] := MN _ _ _ Ms; have [_ ->] := same _ _ _ _ _ Ms Nt st st'.
by exists (size t); rewrite // Nt size_cat addnS ltnS leq_addr.
Qed.

Lemma chosen_answers M N g p g' p' tie (score : X -> S) i :
  answers M N g p g' p' -> answers N M g' p' g p -> below m.+2 r.+2 M N ->
  chosen tie score g p (size M) i ->
  exists2 j, g i = g' j & chosen tie score g' p' (size N) j.
Proof.
move=> MN NM; rewrite belowS => -[_ MNs] [iM pi left right].
have [s [x [s' [Ms si]]]] := place iM; have [t [t' [Nt st st']]] := MNs _ _ _ Ms.
have ts := below_turned st; have ts' := below_turned st'.
have weak (u v : seq T) : below m.+2 r.+1 u v -> below m.+1 r u v.
  by move=> uv; apply: below_blocks; apply: below_rounds uv.
have less (u v : seq T) : below m.+1 r.+1 u v -> below m.+1 r u v by apply: below_rounds.
have [] := MN _ _ _ _ _ Ms Nt (weak _ _ st) (weak _ _ st'); rewrite si => gE pE.
exists (size t) => //; split; rewrite -?gE -?pE //.
- by rewrite Nt size_cat addnS ltnS leq_addr.
- move=> k kt; have [t1 [y [t2 [tE kE]]]] := place kt.
  move: ts; rewrite belowS => -[_ /(_ _ _ _ tE) [s1 [s2 [sE ts1 ts2]]]].
  have Nt2 : N = t1 ++ y :: (t2 ++ x :: t') by rewrite Nt tE -catA.
  have Ms2 : M = s1 ++ y :: (s2 ++ x :: s') by rewrite Ms sE -catA.
  have ts2' : below m.+1 r (t2 ++ x :: t') (s2 ++ x :: s').
    by apply: below_cat => //; apply: (@below_cat _ _ _ [:: x] [:: x]) => //; apply: less.
  have [] := NM _ _ _ _ _ Nt2 Ms2 ts1 ts2'; rewrite kE => -> ->.
  by apply: left; rewrite -si sE size_cat addnS ltnS leq_addr.
move=> k /andP [tk kN]; have kt' : k - (size t).+1 < size t'.
  by move: kN; rewrite Nt size_cat /=; lia.
have [t1 [y [t2 [tE kE]]]] := place kt'.
move: ts'; rewrite belowS => -[_ /(_ _ _ _ tE) [s1 [s2 [sE ts1 ts2]]]].
have Nt2 : N = (t ++ x :: t1) ++ y :: t2 by rewrite Nt tE -catA.
have Ms2 : M = (s ++ x :: s1) ++ y :: s2 by rewrite Ms sE -catA.
have ts1' : below m.+1 r (t ++ x :: t1) (s ++ x :: s1).
  by apply: below_cat; [apply: less | apply: (@below_cat _ _ _ [:: x] [:: x])].
have kE' : size (t ++ x :: t1) = k by rewrite size_cat /=; lia.
have [] := NM _ _ _ _ _ Nt2 Ms2 ts1' ts2; rewrite kE' => -> ->.
by apply: right; rewrite Ms2 -si !size_cat /=; lia.
Qed.

End Answers.

(* --- what no net can tell apart --- *)

Section Alike.

Variables (disp : Order.disp_t) (S : orderType disp) (A : Type) (f : net S A).
Implicit Types (u v : seq (option A)) (a : option A).

(* A text with a mark at one letter. *)
Definition plain a := (a, false).
Definition marked u a u' := map plain u ++ (a, true) :: map plain u'.

Lemma marked_text u a u' : map fst (marked u a u') = u ++ a :: u'.
Proof. by rewrite map_cat /= -!map_comp !map_id. Qed.

Lemma size_marked u a u' : size (marked u a u') = size (u ++ a :: u').
Proof. by rewrite -(marked_text u) size_map. Qed.

Lemma no_mark u : has snd (map plain u) = false.
Proof. by elim: u. Qed.

Lemma marks u a u' s x s' : marked u a u' = s ++ x :: s' ->
  [/\ (size s == size u) = x.2, (size s < size u) = has snd s'
    & (size u < size s) = has snd s].
Proof.
move=> E; have [[t us ->]|[[|y t] -> /=]] := cat_split E.
- have := no_mark u; rewrite -(size_map plain u) us has_cat /=.
  move=> /norP [/negbTE sF /norP [/negbTE ->]].
  rewrite has_cat /= orbT sF size_cat /= => _.
  by split; lia.
- by case=> <- <-; rewrite cats0 no_mark size_map eqxx ltnn /= no_mark.
- case=> <- u's; have := no_mark u'; rewrite u's has_cat /=.
  move=> /norP [_ /norP [/negbTE -> /negbTE ->]].
  by rewrite size_cat size_map has_cat /= orbT; split; lia.
Qed.

Definition rounds L := L.*2.+1.

Definition same_state L := forall u a u' v v',
  below L.+1 (rounds L) u v -> below L.+1 (rounds L) u' v' ->
  hold f (u ++ a :: u') L (size u) = hold f (v ++ a :: v') L (size v).

(* Two positions of the same letter, each seen from a marked one. *)
Lemma place_alike L u a u' v v' s x s' t t' : same_state L ->
  marked u a u' = s ++ x :: s' -> marked v a v' = t ++ x :: t' ->
  below L.+1 (rounds L) s t -> below L.+1 (rounds L) s' t' ->
  hold f (u ++ a :: u') L (size s) = hold f (v ++ a :: v') L (size t) /\
  forall m, sees m (size u) (size s) = sees m (size v) (size t).
Proof.
move=> same us vt st st'; split.
  rewrite -!(marked_text _ a) us vt !map_cat /= -!(size_map fst).
  by apply: same; apply: below_map.
have [usx us' us0] := marks us; have [vtx vt' vt0] := marks vt.
move=> m; rewrite /sees usx vtx us' vt'; case: ifP => // xF.
suff -> : has snd s' = has snd t' by [].
case s1: (has snd s'); first by rewrite (below_has st').
have : has snd t by apply: (below_has st); rewrite -us0; lia.
by rewrite -vt0 -vt'; lia.
Qed.

Lemma answers_alike L u a u' v v' m : same_state L ->
  answers L (rounds L) (marked u a u') (marked v a v')
    (hold f (u ++ a :: u') L) (sees m (size u)) (hold f (v ++ a :: v') L) (sees m (size v)).
Proof.
move=> same s x s' t t' us vt st st'.
by have [gE pE] := place_alike same us vt st st'; split.
Qed.

Lemma held_alike L : same_state L.
Proof.
elim: L => [|L IH] u a u' v v' uv uv'; first by rewrite /= !nth_cat !ltnn !subnn.
have uvM : below L.+2 (rounds L).+2 (marked u a u') (marked v a v').
  apply: below_cat; first exact: below_map.
  by apply: (@below_cat _ _ _ [:: _] [:: _]) => //; apply: below_map.
have weak p q : below L.+2 (rounds L.+1) p q -> below L.+1 (rounds L) p q.
  by move=> pq; apply: below_blocks; apply: below_rounds pq; rewrite /rounds; lia.
have own := IH _ a _ _ _ (weak _ _ _ uv) (weak _ _ _ uv').
rewrite [LHS]/= [RHS]/= -own; congr join; apply/ffunP => h; rewrite !ffunE.
have there := @answers_alike L u a u' v v' (view_of L h) IH.
have back := @answers_alike L v a v' u u' (view_of L h) IH.
rewrite -(size_marked u a u') -(size_marked v a v'); case E: (attend _ _ _) => [x|].
  have [i chosen_i <-] := attended_chosen E.
  by have [j -> /chosen_attended ->] := chosen_answers there back uvM chosen_i.
case E': (attend _ _ _) => [x|] //.
have [i [iv seen _ _] _] := attended_chosen E'.
have vu : below L.+1 (rounds L).+1 (marked v a v') (marked u a u').
  exact: below_rounds (below_turned uvM).
have [j ju] := seen_answers back vu iv seen.
by rewrite (negbTE (attended_none E ju)).
Qed.

(* Whatever the net, L layers give two words one answer if all that sentences of Sigma_(L+1) of
   quantifier depth 2 L + 1 say of the first is true of the second. One direction is enough: since
   complements are recognised by as many layers, no more is asked. *)
Theorem sigma_alike L (w w' : seq A) :
  below L.+1 (rounds L) w w' -> accepts f L w = accepts f L w'.
Proof.
move=> ww'; rewrite /accepts -!cats1 -(size_map Some w) -(size_map Some w'); congr accept.
by apply: held_alike => //; apply: below_map.
Qed.

End Alike.

(* --- the words --- *)

Lemma below_less A m m' r (u v : seq A) : m <= m' -> below m' r u v -> below m r u v.
Proof. by move=> /subnK <-; elim: (m' - m) => // d IH /below_blocks. Qed.

Section Words.

Variables (T : finType) (t0 : T) (N : nat).
Local Notation bracket := (bool * T)%type.

(* Words of brackets of one type: `flat` and `other` end at the height at which they begin, and rise
   by k between; `up` ends one higher, and `down` one lower. What sentences of Sigma_k of quantifier
   depth r say of `up` is true of `flat`, and what they say of `down` is true of `other`, if N is
   large enough. *)
Record level := Level { flat : seq bracket; other : seq bracket; up : seq bracket;
                        down : seq bracket }.

Definition higher (l : level) : level :=
  let: Level p q y z := l in let pN := power p N in let qN := power q N in
  let a := [:: (true, t0)] in let b := [:: (false, t0)] in
  Level (qN ++ a ++ qN ++ z ++ qN) (pN ++ y ++ pN ++ b ++ pN) (qN ++ a ++ qN) (pN ++ b ++ pN).
Definition words k : level := iter k higher (Level [::] [::] [:: (true, t0)] [:: (false, t0)]).

Lemma wordsS k : words k.+1 = higher (words k). Proof. by []. Qed.

Definition allowed D := power (flat (words D)) N.
Definition left_open D := allowed D ++ up (words D) ++ allowed D.

Lemma words_below r k : enough r <= N ->
  below k r (up (words k)) (flat (words k)) /\ below k r (down (words k)) (other (words k)).
Proof.
move=> rN; elim: k => // k; rewrite wordsS; case: (words k) => p q y z.
cbn [higher up down flat other] => -[yp zq].
have one x : power x 1 = x :> seq bracket by rewrite /power /= cats0.
split; first by do 2![apply: below_cat => //]; apply: (@below_inserted _ _ _ _ _ 1); rewrite ?one.
rewrite (catA y) (catA _ (y ++ _)); apply: below_cat => //.
by apply: (@below_inserted _ _ _ _ _ 1); rewrite ?one.
Qed.

Lemma allowed_below r D : enough r <= N -> below D.+1 r (allowed D) (left_open D).
Proof.
move=> rN; apply: (@below_inserted _ _ _ _ _ 1) => //.
by rewrite /power /= cats0; have [] := words_below D rN.
Qed.

Lemma nested_power D (s : seq T) (x : seq bracket) n w :
  (forall w', nested D s (x ++ w') = nested D s w') ->
  nested D s (power x n ++ w) = nested D s w.
Proof. by move=> same; elim: n => // n IH; rewrite powerS -catA same. Qed.

Lemma words_nested k D (s : seq T) w :
  [/\ size s + k <= D -> nested D s (flat (words k) ++ w) = nested D s w,
      size s + k <= D -> nested D s (other (words k) ++ w) = nested D s w,
      size s + k < D -> nested D s (up (words k) ++ w) = nested D (t0 :: s) w
    & size s + k < D -> nested D (t0 :: s) (down (words k) ++ w) = nested D s w].
Proof.
elim: k s w => [|k IH] s w; first by split=> //= sD; rewrite ?eqxx //; have -> : size s < D by lia.
have opened w' : size s < D -> nested D s ((true, t0) :: w') = nested D (t0 :: s) w'.
  by move=> /= ->.
have closed w' : nested D (t0 :: s) ((false, t0) :: w') = nested D s w' by rewrite /= eqxx.
rewrite wordsS; case: (words k) IH => p q y z /= IH.
have pw s' w' : size s' + k <= D -> nested D s' (power p N ++ w') = nested D s' w'.
  by move=> s'k; apply: nested_power => w2; have [-> //] := IH s' w2.
have qw s' w' : size s' + k <= D -> nested D s' (power q N ++ w') = nested D s' w'.
  by move=> s'k; apply: nested_power => w2; have [_ ->] := IH s' w2.
have yw w' : size s + k < D -> nested D s (y ++ w') = nested D (t0 :: s) w'.
  by move=> sk; have [_ _ ->] := IH s w'.
have zw w' : size s + k < D -> nested D (t0 :: s) (z ++ w') = nested D s w'.
  by move=> sk; have [_ _ _ ->] := IH s w'.
by split=> sk; rewrite -?catA /= -?catA /= -?catA;
  rewrite ?(pw, qw, yw, zw, opened, closed) //=; lia.
Qed.

Lemma nested_more D D' (s : seq T) w : D <= D' -> nested D s w -> nested D' s w.
Proof.
move=> DD'; elim: w s => // -[[] x] w IH [|y s] //=.
- by move=> /andP [D0 /IH ->]; rewrite andbT; lia.
- by move=> /andP [sD /IH ->]; rewrite andbT; lia.
- by move=> /andP [-> /IH ->].
Qed.

Lemma dyck_power D : dyck D (allowed D).
Proof.
rewrite /dyck -[allowed D]cats0 nested_power // => w.
by have [->] := words_nested D D [::] w.
Qed.

Lemma dyck_left_open D : ~~ dyck D (left_open D).
Proof.
apply/negP => /(nested_more (leqnSn D)); rewrite /left_open /allowed -[X in _ ++ _ ++ X]cats0.
have same s w : size s + D <= D.+1 -> nested D.+1 s (flat (words D) ++ w) = nested D.+1 s w.
  by move=> sD; have [->] := words_nested D D.+1 s w.
rewrite nested_power; last by move=> w; apply: same.
have [_ _ opens _] := words_nested D D.+1 [::] (power (flat (words D)) N ++ [::]).
rewrite opens; last exact: ltnSn.
by rewrite nested_power // => w; apply: same.
Qed.

End Words.

(* --- nets that look one way --- *)

(* A net of HardAttention.v under a strict future mask. *)
Definition one_way tie disp (S : orderType disp) A (f : HardAttention.net S A) : net S A :=
  @Net _ S A (HardAttention.state f) (HardAttention.heads f)
    (fun _ _ => View true false false) (fun _ _ => tie) (@HardAttention.embed _ _ _ f)
    (@HardAttention.score _ _ _ f) (@HardAttention.join _ _ _ f) (@HardAttention.accept _ _ _ f).

Lemma seen_before n i : i <= n -> [seq j <- iota 0 n | sees (View true false false) i j] = iota 0 i.
Proof.
move=> /subnKC <-; rewrite iotaD filter_cat add0n.
rewrite (_ : filter _ (iota i _) = [::]); last first.
  rewrite (eq_in_filter (a2 := pred0)) ?filter_pred0 // => j; rewrite mem_iota /sees => ji.
  by case: eqP => // _; rewrite ltnNge; case/andP: ji => ->.
rewrite cats0 (eq_in_filter (a2 := predT)) ?filter_predT // => j; rewrite mem_iota /sees => ji.
by case/andP: ji => _; rewrite add0n => ji; rewrite /= ji; case: eqP ji => // ->; rewrite ltnn.
Qed.

Lemma one_way_held tie disp (S : orderType disp) A (f : HardAttention.net S A) w L i :
  i <= size w ->
  hold (one_way tie f) (rcons (map Some w) None) L i = HardAttention.hold tie strict f w L i.
Proof.
elim: L i => [|L IH] i iw.
  rewrite /= nth_rcons size_map /letter; case: ltngtP iw => // -> _.
  by rewrite nth_default ?size_map.
rewrite holdS [LHS]/= IH //; congr HardAttention.join; apply/ffunP => h; rewrite !ffunE.
rewrite size_rcons size_map seen_before /=; last by lia.
congr attend; apply/eq_in_map => j; rewrite mem_iota => ji; apply: IH; lia.
Qed.

Lemma one_way_recognises tie disp (S : orderType disp) A (f : HardAttention.net S A) L language :
  HardAttention.recognises tie f L language -> recognises (one_way tie f) L language.
Proof. by move=> right w; rewrite -right /accepts one_way_held. Qed.

(* --- nested brackets --- *)

(* Brackets nested to depth D are no language of Sigma_(D+1): for each quantifier depth r, all that
   its sentences say of some word of the language is true of one that is not in it. *)
Theorem dyck_not_sigma (T : finType) (t0 : T) D r :
  exists w w' : seq (bool * T), [/\ dyck D w, ~~ dyck D w' & below D.+1 r w w'].
Proof.
exists (allowed t0 (enough r) D), (left_open t0 (enough r) D).
by split; [exact: dyck_power | exact: dyck_left_open | apply: allowed_below].
Qed.

(* So there are two words, one of them in the language, that no net of D layers tells apart,
   however its heads look. *)
Theorem dyck_both_ways_alike (T : finType) (t0 : T) D L : L <= D ->
  exists w w' : seq (bool * T), [/\ dyck D w, ~~ dyck D w'
    & forall disp (S : orderType disp) (f : net S (bool * T)), accepts f L w = accepts f L w'].
Proof.
move=> LD; have [w [w' [wD w'D ww']]] := dyck_not_sigma t0 D (rounds L); exists w, w'.
by split=> // disp S f; apply: sigma_alike; apply: below_less ww'.
Qed.

(* Claim: least_depth/dyck_both_ways. Brackets of any types nested to depth D take exactly D + 1
   layers of hard attention, whatever each head sees of what is before, at and after its position,
   and whichever side ties go to: as many as under a strict future mask. One head a layer that looks
   back does it. *)
Theorem dyck_both_ways (T : finType) (t0 : T) D : least_layers 1 (@dyck T D) D.+1.
Proof.
split.
  exists (one_way rightmost (stack_net T D)); split.
  - by exists ((option (bool * T) * bool * bool)%type : finType).
  - by rewrite card_unit.
  - exact: one_way_recognises (@stack_recognises T D).
move=> disp S f l right; rewrite leqNgt; apply/negP => lD.
have [w [w' [wD w'D same]]] := dyck_both_ways_alike t0 (lD : l <= D).
by move: w'D; rewrite -right -same right wD.
Qed.

(* --- as the claim says it, for D in binary --- *)

Definition dyck_both_ways_value (D : N) : N := N.succ D.

Lemma dyck_both_ways_valueE (D : nat) : dyck_both_ways_value (bin_of_nat D) = bin_of_nat D.+1.
Proof. exact: dyck_valueE. Qed.

(* Claim: least_depth/dyck_both_ways. Brackets nested to depth D take exactly
   `dyck_both_ways_value D` layers of hard attention whose heads look both ways. Their types are the
   elements of a finite set that is not empty. *)
Theorem dyck_both_ways_checked (T : finType) (D : N) : 0 < #|T| ->
  least_layers 1 (@dyck T (nat_of_bin D)) (nat_of_bin (dyck_both_ways_value D)).
Proof.
by move=> /card_gt0P [t0 _]; rewrite (value_of _ dyck_both_ways_valueE); apply: (dyck_both_ways t0).
Qed.

(* --- instances, and other constants --- *)

(* A head that looks ahead holds the next letter. *)
Definition next_net : net (bool : orderType _) bool :=
  @Net _ _ bool (option bool) (unit : finType) (fun _ _ => View false false true)
    (fun _ _ => leftmost) id (fun _ _ _ _ => true) (fun _ own u => odflt own (u tt)) isSome.
Example next_letter : hold next_net [:: Some false; Some true; Some false; None] 1 0 = Some true.
Proof. by rewrite /= ffunE. Qed.

(* The words of depth 1: ()() and ()()(()(). *)
Example words_1 : let a := (true, tt) in let b := (false, tt) in
  allowed tt 2 1 = [:: a; b; a; b] /\ left_open tt 2 1 = [:: a; b; a; b; a; a; b; a; b].
Proof. by []. Qed.

(* They are in the relation of the game with three rounds, if N is as large as that takes. *)
Example words_1_below : below 2 3 (allowed tt 7 1) (left_open tt 7 1).
Proof. exact: allowed_below. Qed.

Example dyck_both_ways_5 : least_layers 1 (@dyck (bool : finType) 5) 6.
Proof. by apply: (@dyck_both_ways_checked _ 5); rewrite card_bool. Qed.

(* The least number is one number. *)
Lemma least_layers_unique H H' A (language : pred (seq A)) L L' :
  least_layers H language L -> least_layers H' language L' -> L = L'.
Proof.
move=> [[f [_ _ fL]] low] [[f' [_ _ fL']] low'].
by have := low _ _ _ _ fL'; have := low' _ _ _ _ fL; lia.
Qed.

(* D + 2 layers are not needed. *)
Lemma dyck_both_ways_not_two_more (T : finType) (t0 : T) D : ~ least_layers 1 (@dyck T D) D.+2.
Proof. by move=> h; have := least_layers_unique h (dyck_both_ways t0 D); lia. Qed.
