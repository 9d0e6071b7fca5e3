(* Thoughts: the steps of thought of one layer of hard attention.

   The decoder is that of theory/least_depth/chain_of_thought.py. Scores, thoughts and updates are
   any tables: no bound on width or precision is used. That earlier thoughts tell a head nothing
   new, and that a vector of some precision is such a thought, stays informal. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.
From Depthlaw Require Import Hops Lookups.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Thoughts.

(* Positions, in the order of their enumeration, and letters. *)
Variables I A : finType.
Definition word := {ffun I -> A}.

(* --- the decoder --- *)

Section Attention.

Variables (disp : Order.disp_t) (S : orderType disp) (score : I -> A -> S).

(* Hard attention: the first of the positions whose score is highest, and the letter there. *)
Definition attended (w : word) : option I :=
  ohead [seq i <- enum I | [forall j, (score j (w j) <= score i (w i))%O]].
Definition sees (w : word) : option (I * A) := omap (fun i => (i, w i)) (attended w).

End Attention.

Definition seen (H : nat) := {ffun 'I_H -> option (I * A)}.

(* Each head scores every position by the thought, the position and the letter there, in some
   totally ordered set. The next thought is a function of the thought and of what all heads see. *)
Record decoder (H : nat) (B T : Type) := Decoder
  { scale_name : Order.disp_t;
    scale : orderType scale_name;
    score : T -> 'I_H -> I -> A -> scale;
    next : T -> seen H -> T;
    start : T;
    answer : T -> B }.

Definition step H B T (f : decoder H B T) (w : word) (x : T) : T :=
  next f x [ffun h => sees (score f x h) w].

Definition computes H B T (f : decoder H B T) (g : word -> B) (t : nat) :=
  forall w, answer f (iter t (step f w) (start f)) = g w.

(* Some decoder of H heads with finitely many thoughts computes g in t steps. *)
Definition thinks (H : nat) (B : Type) (g : word -> B) (t : nat) :=
  exists (T : finType) (f : decoder H B T), computes f g t.

(* --- what a head finds --- *)

Section Attention.

Variables (disp : Order.disp_t) (S : orderType disp) (score : I -> A -> S).

Lemma ohead_filter (P : pred I) (s : seq I) : uniq s ->
  if ohead [seq i <- s | P i] is Some i then P i /\ {in s, forall j, P j -> index i s <= index j s}
  else {in s, forall j, ~~ P j}.
Proof.
elim: s => //= x s IH /andP [xs us]; case Px: (P x) => /=.
  by split=> // j _ _; rewrite eqxx.
have := IH us; case e: (ohead _) => [i|].
  case=> Pi lo; split=> // j; rewrite inE => /orP [/eqP->|js Pj]; first by rewrite Px.
  have is_ : i \in s.
    move: e; case e': [seq _ <- _ | _] => [//|y r] [<-].
    have : y \in [seq i <- s | P i] by rewrite e' mem_head.
    by rewrite mem_filter => /andP [].
  by case: eqP => // xi; case: eqP => [xj|_]; [move: Pj; rewrite -xj Px | exact: lo].
by move=> none j; rewrite inE => /orP [/eqP->|/none//]; rewrite Px.
Qed.

Lemma attendedP w :
  if attended score w is Some i then
    (forall j, (score j (w j) <= score i (w i))%O)
    /\ (forall j, (score i (w i) <= score j (w j))%O -> index i (enum I) <= index j (enum I))
  else I -> False.
Proof.
have := @ohead_filter (fun i => [forall j, (score j (w j) <= score i (w i))%O]) _ (enum_uniq I).
rewrite -/(attended score w); case: (attended score w) => [i|none i].
  case=> /forallP hi lo; split=> // j ij; apply: lo; rewrite ?mem_enum //.
  by apply/forallP => l; apply: Order.POrderTheory.le_trans (hi l) ij.
have [j _ hj] := Order.TotalTheory.arg_maxP (fun i => score i (w i)) (isT : predT i).
by have /negP[] := none j (mem_enum _ j); apply/forallP => l; apply: hj.
Qed.

(* Of any words some one has a pair of position and letter that all those who have it see. *)
Lemma sees_one (Q : {set word}) w : w \in Q ->
  exists2 w0, w0 \in Q & forall w', w' \in Q ->
    (forall i, attended score w0 = Some i -> w' i = w0 i) -> sees score w' = sees score w0.
Proof.
move=> wQ; have := attendedP w; case e: (attended score w) => [i0|] => [_|none]; last first.
  have empty w' : sees score w' = None.
    by rewrite /sees; case: (attended score w') => [i|//]; case: (none i).
  by exists w => // w' _ _; rewrite !empty.
pose at_ w := odflt i0 (attended score w); pose best w := score (at_ w) (w (at_ w)).
have atE w' : attended score w' = Some (at_ w').
  by rewrite /at_; have := attendedP w'; case: (attended score w') => // /(_ i0).
have hi (w' : word) j : (score j (w' j) <= best w')%O by have := attendedP w'; rewrite atE => -[].
have lo (w' : word) j :
    (best w' <= score j (w' j))%O -> index (at_ w') (enum I) <= index j (enum I).
  by have := attendedP w'; rewrite atE => -[_]; apply.
have [w1 w1Q top] := Order.TotalTheory.arg_maxP best wQ.
have w1P : (w1 \in Q) && (best w1 == best w1) by rewrite eqxx andbT; exact: w1Q.
have [w0 /andP [w0Q /eqP e0] first] :=
  @arg_minnP _ w1 (fun w => (w \in Q) && (best w == best w1)) (fun w => index (at_ w) (enum I)) w1P.
exists w0 => // w' w'Q /(_ _ (atE w0)) same.
have le0 : (best w0 <= score (at_ w0) (w' (at_ w0)))%O by rewrite same.
have e' : best w' == best w1.
  rewrite Order.POrderTheory.eq_le; apply/andP; split; first exact: top.
  by rewrite -e0; apply: Order.POrderTheory.le_trans le0 (hi _ _).
have place : at_ w' = at_ w0.
  have le1 : index (at_ w') (enum I) <= index (at_ w0) (enum I).
    by apply: lo; rewrite (eqP e') -e0.
  have le2 := first w' (introT andP (conj w'Q e')).
  have : index (at_ w') (enum I) = index (at_ w0) (enum I) by lia.
  by move/(congr1 (nth i0 (enum I))); rewrite !nth_index ?mem_enum.
by rewrite /sees !atE /= place same.
Qed.

End Attention.

(* --- finitely many thoughts are enough --- *)

(* A thought of any type may be replaced by all that was seen so far. *)
Theorem finite_thoughts H B T (f : decoder H B T) g t : computes f g t -> thinks H g t.
Proof.
move=> right; pose mind (s : seq (seen H)) := foldl (next f) (start f) s.
pose f' := @Decoder H B ({bseq t of seen H} : finType) _ _ (fun s => score f (mind s))
  (fun s o => insub_bseq t (rcons s o)) [bseq] (fun s => answer f (mind s)).
exists ({bseq t of seen H} : finType), f' => w; rewrite -[RHS]right.
have mindE s : s <= t -> mind (iter s (step f' w) (start f')) = iter s (step f w) (start f)
    /\ size (iter s (step f' w) (start f')) = s.
  elim: s => [//|s IH] st; have [e1 e2] := IH (ltnW st).
  rewrite !iterS; set b := iter s _ _ in e1 e2 *.
  have bE : bseqval (step f' w b) = rcons b [ffun h => sees (score f (mind b) h) w].
    by rewrite /step /= /insub_bseq insubdK // -topredE /= size_rcons e2.
  by rewrite bE size_rcons e2 /mind foldl_rcons -/(mind b) e1.
by rewrite -(mindE t (leqnn t)).1.
Qed.

End Thoughts.

(* --- the rank --- *)

Section Rank.

Variables (I A : finType) (B : Type).
Implicit Types (Q : {set word I A}) (g : word I A -> B).

(* Inner nodes ask whether a letter stands at a position; the first child is for yes. *)
Inductive tree := Leaf of B | Node of I & A & tree & tree.

Fixpoint said (T : tree) (w : word I A) : B :=
  match T with
  | Leaf b => b
  | Node i a yes no => if w i == a then said yes w else said no w
  end.

(* The rank of Ehrenfeucht and Haussler. *)
Fixpoint tree_rank (T : tree) : nat :=
  if T is Node _ _ yes no then
    let y := tree_rank yes in let n := tree_rank no in if y == n then y.+1 else maxn y n
  else 0.

(* Some tree for g has at most this rank. *)
Definition ranked g r := exists2 T, tree_rank T <= r & said T =1 g.

Lemma tree_rank_node i a yes no r : (tree_rank (Node i a yes no) <= r)
  = [&& tree_rank yes <= r, tree_rank no <= r & (tree_rank yes < r) || (tree_rank no < r)].
Proof. by rewrite /=; case: eqP => [->|]; lia. Qed.

(* Scores read off a tree: its nodes of largest rank are a path, and a word leaves it where the
   first of its pairs leads off. *)
Fixpoint path_of (r : nat) (T : tree) : seq (pred (I * A) * tree) * tree :=
  if T is Node i a yes no then
    if tree_rank T <= r then ([::], T)
    else if tree_rank yes <= r then
      let p := path_of r no in
      (([pred p : I * A | (p.1 == i) && (p.2 == a)] : pred _, yes) :: p.1, p.2)
    else let p := path_of r yes in
      (([pred p : I * A | (p.1 == i) && (p.2 != a)] : pred _, no) :: p.1, p.2)
  else ([::], T).

Definition meets (w : word I A) (x : pred (I * A) * tree) := [exists i, x.1 (i, w i)].
Definition exit (P : pred (pred (I * A) * tree)) (p : seq (pred (I * A) * tree) * tree) : tree :=
  nth p.2 (unzip2 p.1) (find P p.1).

Lemma exit_rank r T P : tree_rank T <= r.+1 -> tree_rank (exit P (path_of r T)) <= r.
Proof.
elim: T => [b _ //|i a yes IHy no IHn]; rewrite tree_rank_node => /and3P [ry rn le].
rewrite /exit [path_of _ _]/=; case: ifP => [//|_]; case: ifP => [y_r|y_r] /=.
  by case: (P _) => //=; apply: IHn.
by case: (P _) => //=; [move: le; rewrite !ltnS y_r | apply: IHy].
Qed.

Lemma exit_said r T w : said (exit (meets w) (path_of r T)) w = said T w.
Proof.
elim: T => [//|i a yes IHy no IHn].
rewrite /exit [path_of _ _]/=; case: ifP => [//|_]; case: ifP => [y_r|y_r] /=.
  case: ifP => [/existsP [j /= /andP [/eqP-> /eqP->]]|none /=]; first by rewrite eqxx.
  rewrite -/(exit _ _) IHn; case: eqP => // e; move/existsP: none => [].
  by exists i; rewrite /= eqxx e eqxx.
case: ifP => [/existsP [j /= /andP [/eqP-> /negbTE->]] //|none /=].
rewrite -/(exit _ _) IHy; case: eqP => // e; move/existsP: none => [].
by exists i; rewrite /= eqxx; apply/eqP.
Qed.

Fixpoint some_leaf (T : tree) : B :=
  match T with Leaf b => b | Node _ _ yes _ => some_leaf yes end.

Definition climb (T : tree) (r : nat) : decoder I A 1 B (tree * nat) :=
  @Decoder I A 1 B (tree * nat) _ (nat : orderType _)
  (fun x _ i a => let s := (path_of x.2.-1 x.1).1 in
     size s - find (fun l : pred (I * A) * tree => l.1 (i, a)) s)
  (fun x o => (exit (fun l => if o ord0 is Some y then l.1 y else false)
                    (path_of x.2.-1 x.1), x.2.-1))
  (T, r)
  (fun x => some_leaf x.1).

Lemma find_some (X : Type) (F : I -> pred X) (s : seq X) i :
  (forall j, find (F i) s <= find (F j) s) -> find (F i) s = find (fun x => [exists j, F j x]) s.
Proof.
move=> first; apply/eqP; rewrite eqn_leq; apply/andP; split; last first.
  by apply: sub_find => x Fx; apply/existsP; exists i.
set m := find (fun x => [exists j, F j x]) s.
have [lt|ge] := ltnP m (size s); last by apply: leq_trans (find_size _ _) ge.
case: s first @m lt => [//|x0 s] first m lt.
have := @nth_find _ x0 (fun x => [exists j, F j x]) (x0 :: s); rewrite has_find lt => /(_ isT).
case/existsP=> j Fj; apply: leq_trans (first j) _; rewrite leqNgt; apply/negP => /(before_find x0).
by rewrite Fj.
Qed.

Lemma climb_step T r w T' : step (climb T' 0) w (T, r) = (exit (meets w) (path_of r.-1 T), r.-1).
Proof.
rewrite /step /= ffunE /sees; have := attendedP (score (climb T' 0) (T, r) ord0) w.
case: (attended _ _) => [i [hi _]|none] /=; rewrite /exit; congr (nth _ _ _, _); last first.
  apply: eq_find => l; symmetry; apply/existsP => -[i _]; exact: none i.
apply: (@find_some _ (fun i (l : pred (I * A) * tree) => l.1 (i, w i))) => j.
have := hi j; rewrite [score _ _ _]/= leEnat.
set s := (path_of _ _).1; have := find_size (fun l : pred (I * A) * tree => l.1 (j, w j)) s.
by have := find_size (fun l : pred (I * A) * tree => l.1 (i, w i)) s; lia.
Qed.

Lemma climb_computes T r : tree_rank T <= r -> computes (climb T r) (said T) r.
Proof.
move=> Tr w; have -> : start (climb T r) = (T, r) by [].
suff run s T' : tree_rank T' <= s ->
    some_leaf (iter s (step (climb T r) w) (T', s)).1 = said T' w by exact: run.
elim: s T' => [|s IH] T' rT; first by case: T' rT => // i a yes no; rewrite tree_rank_node !andbF.
rewrite iterSr.
have -> : step (climb T r) w (T', s.+1) = (exit (meets w) (path_of s T'), s).
  exact: (climb_step T' s.+1 w T).
by rewrite IH ?exit_said ?exit_rank.
Qed.

(* A decoder of one head that computes g on some words in so many steps has a tree of that rank. *)
Lemma tree_of T (f : decoder I A 1 B T) g t x Q :
  {in Q, forall w, answer f (iter t (step f w) x) = g w} ->
  exists2 T', tree_rank T' <= t & {in Q, said T' =1 g}.
Proof.
elim: t x Q => [|t IHt] x Q right.
  by exists (Leaf (answer f x)) => // w wQ; rewrite /= -right.
have [m] := ubnP #|Q|; elim: m Q right => // m IHm Q right Qm.
have [->|[w wQ]] := set_0Vmem Q.
  by exists (Leaf (answer f x)) => // w; rewrite inE.
have [w0 w0Q one] := sees_one (score f x ord0) wQ.
case e: (attended (score f x ord0) w0) => [i|]; last first.
  exists (Leaf (g w0)) => // w' w'Q; congr g; apply/ffunP => i.
  by have := attendedP (score f x ord0) w0; rewrite e => /(_ i).
pose Q1 := [set w in Q | w i == w0 i]; pose Q2 := [set w in Q | w i != w0 i].
have same w' : w' \in Q1 -> step f w' x = step f w0 x.
  rewrite inE => /andP [w'Q /eqP e']; congr next; apply/ffunP => h; rewrite !ffunE ord1.
  by apply: one => // j; rewrite e => -[<-].
have [T1 r1 s1] : exists2 T', tree_rank T' <= t & {in Q1, said T' =1 g}.
  apply: (IHt (step f w0 x)) => w' w'Q1; rewrite -(same _ w'Q1) -iterSr right //.
  by move: w'Q1; rewrite inE => /andP [].
have [||T2 r2 s2] := IHm Q2.
- by move=> w'; rewrite inE => /andP [w'Q _]; apply: right.
- apply: leq_trans (_ : #|Q| <= m); last by rewrite -ltnS.
  apply/proper_card/properP; split; first by apply/subsetP => w'; rewrite inE => /andP [].
  by exists w0 => //; rewrite inE eqxx andbF.
exists (Node i (w0 i) T1 T2).
  by rewrite tree_rank_node r2 (leq_trans r1) // ltnS r1.
move=> w' w'Q /=; case: eqP => e'; first by apply: s1; rewrite inE w'Q e' eqxx.
by apply: s2; rewrite inE w'Q; apply/eqP.
Qed.

(* Claim: least_depth/steps_are_rank. For every function of words of any length over any letters,
   the numbers of steps that are enough for one head are those from the rank on. *)
Theorem steps_are_rank g t : thinks 1 g t <-> ranked g t.
Proof.
split=> [[T [f right]]|[T rT Tg]].
  have [|T' rT' sT'] := @tree_of _ f g t (start f) setT; first by move=> w _; apply: right.
  by exists T' => // w; apply: sT'.
have [T' [f right]] := finite_thoughts (climb_computes rT).
by exists T', f => w; rewrite right Tg.
Qed.

End Rank.

(* --- what a tree can not do --- *)

Section Adversary.

Variables (I A : finType) (B : Type).
Implicit Types (Q : {set word I A}) (g : word I A -> B).

Definition yes_part Q i a := [set w in Q | w i == a].
Definition no_part Q i a := [set w in Q | w i != a].

(* Sets of words that stay hard, whatever is asked, have a tree of no smaller rank. *)
Lemma hard_rank g (P : nat -> {set word I A} -> Prop) :
  (forall r Q, P r.+1 Q -> exists w w', [/\ w \in Q, w' \in Q & g w <> g w']) ->
  (forall r Q i a, P r.+1 Q -> [\/ P r.+1 (yes_part Q i a), P r.+1 (no_part Q i a) |
     P r (yes_part Q i a) /\ P r (no_part Q i a)]) ->
  forall r Q T, P r Q -> {in Q, said T =1 g} -> r <= tree_rank T.
Proof.
move=> differ asked r Q T; elim: T r Q => [b|i a yes IHy no IHn] [//|r] Q PQ right.
  by have [w [w' [wQ w'Q []]]] := differ _ _ PQ; rewrite -!right.
have yesP : {in yes_part Q i a, said yes =1 g}.
  by move=> w; rewrite inE => /andP [wQ e]; rewrite -right //= e.
have noP : {in no_part Q i a, said no =1 g}.
  by move=> w; rewrite inE => /andP [wQ /negbTE e]; rewrite -right //= e.
rewrite ltnNge tree_rank_node; apply/negP => /and3P [y n le].
case: (asked r Q i a PQ) => [Py|Pn|[Py Pn]].
- by have := IHy _ _ Py yesP; lia.
- by have := IHn _ _ Pn noP; lia.
by have := IHy _ _ Py yesP; have := IHn _ _ Pn noP; lia.
Qed.

End Adversary.

(* --- parities take a bit for each head and step --- *)

Section Bits.

(* Words made of bits, each letter of one bit, where every bit tells. *)
Variables (I A J : finType) (B : Type) (emb : {ffun J -> bool} -> word I A) (bit : I -> J).
Variable g : word I A -> B.
Definition flip (j : J) (b : {ffun J -> bool}) : {ffun J -> bool} :=
  [ffun l => if l == j then ~~ b l else b l].
Hypothesis one_bit :
  forall i (b b' : {ffun J -> bool}), b (bit i) = b' (bit i) -> emb b i = emb b' i.
Hypothesis tells : forall b j, g (emb (flip j b)) <> g (emb b).

(* Words whose bits outside F are those of b. *)
Definition cube (F : {set J}) (b : {ffun J -> bool}) : {set word I A} :=
  [set emb b' | b' : {ffun J -> bool} & [forall j, (j \in F) || (b' j == b j)]].

Lemma cubeP F (b : {ffun J -> bool}) w :
  reflect (exists2 b' : {ffun J -> bool}, {in ~: F, b' =1 b} & w = emb b') (w \in cube F b).
Proof.
apply: (iffP imsetP) => -[b' same ->]; exists b' => //.
  move=> j; move: same; rewrite !inE => /forallP /(_ j) /orP [jF|/eqP //].
  by rewrite jF.
rewrite inE; apply/forallP => j; case jF: (j \in F) => //=.
by rewrite same ?inE ?jF.
Qed.

Lemma heads_read H T (f : decoder I A H B T) x (F : {set J}) (b : {ffun J -> bool}) h : h <= H ->
  exists (F' : {set J}) (b' : {ffun J -> bool}),
  [/\ #|F| <= #|F'| + h, cube F' b' \subset cube F b &
    forall l : 'I_H, l < h -> {in cube F' b' &, forall w w',
      sees (score f x l) w = sees (score f x l) w'}].
Proof.
elim: h => [|h IH] hH; first by exists F, b; rewrite addn0.
have [F1 [b1 [card1 sub1 same1]]] := IH (ltnW hH).
have b1Q : emb b1 \in cube F1 b1 by apply/cubeP; exists b1.
have [w0 w0Q one] := sees_one (score f x (Ordinal hH)) b1Q.
have /cubeP [b0 b0E w0E] := w0Q.
pose F2 := if attended (score f x (Ordinal hH)) w0 is Some i then F1 :\ bit i else F1.
have F21 : F2 \subset F1.
  by rewrite /F2; case: (attended _ _) => // i; apply: subsetDl.
have sub2 : cube F2 b0 \subset cube F1 b1.
  apply/subsetP => w /cubeP [b' same ->]; apply/cubeP; exists b' => // j jF.
  rewrite same ?b0E // inE; apply: contra (_ : j \notin F1); last by rewrite inE in jF.
  exact: (subsetP F21).
exists F2, b0; split.
- apply: leq_trans card1 _; rewrite addnS -addSn leq_add2r /F2.
  case: (attended _ _) => [i|]; last exact: leqnSn.
  by rewrite (cardsD1 (bit i)); case: (_ \in _).
- exact: subset_trans sub2 sub1.
move=> l; rewrite ltnS leq_eqVlt => /orP [/eqP lh|lh] w w' wQ w'Q; last first.
  by apply: (same1 l lh); apply: (subsetP sub2).
have -> : l = Ordinal hH by apply: val_inj.
have seesE v : v \in cube F2 b0 ->
    sees (score f x (Ordinal hH)) v = sees (score f x (Ordinal hH)) w0.
  move=> vQ; apply: one => [|i e]; first exact: (subsetP sub2).
  have /cubeP [b' same ->] := vQ; rewrite w0E; apply: one_bit.
  by rewrite same // /F2 e !inE eqxx.
by rewrite !seesE.
Qed.

(* In t steps H heads read at most H t bits. *)
Theorem bits_read H T (f : decoder I A H B T) t : computes f g t -> #|J| <= H * t.
Proof.
suff reads x (F : {set J}) (b : {ffun J -> bool}) : 
    {in cube F b, forall w, answer f (iter t (step f w) x) = g w} -> #|F| <= H * t.
  by move=> right; rewrite -cardsT (reads (start f) setT [ffun=> false]) // => w _; apply: right.
elim: t x F b => [|t IH] x F b right.
  rewrite muln0 leqn0 cards_eq0; apply/eqP/setP => j; rewrite inE; apply/negP => jF.
  have bQ : emb b \in cube F b by apply/cubeP; exists b.
  have fQ : emb (flip j b) \in cube F b.
    apply/cubeP; exists (flip j b) => // l; rewrite inE ffunE; case: eqP => // ->.
    by rewrite jF.
  by case: (tells (etrans (esym (right _ fQ)) (right _ bQ))).
have [F' [b' [card' sub' same']]] := heads_read f x F b (leqnn H).
rewrite mulnS addnC; apply: leq_trans card' _; rewrite leq_add2r.
apply: (IH (step f (emb b') x) F' b') => w wQ.
rewrite -(right w); last exact: (subsetP sub').
rewrite iterSr; congr (answer f (iter t _ _)); congr next; apply/ffunP => h; rewrite !ffunE.
by apply: same' => //; apply/cubeP; exists b'.
Qed.

End Bits.

Lemma attend_to (I A : finType) (score : I -> A -> nat) (w : word I A) i :
  (forall j, j != i -> score j (w j) < score i (w i)) ->
  @attended I A _ (nat : orderType _) score w = Some i.
Proof.
move=> most; have := @attendedP I A _ (nat : orderType _) score w.
case: (attended _ _) => [j [/(_ i) le _]|/(_ i) //]; congr Some; apply/eqP/negPn/negP => ji.
by have := most j ji; rewrite ltnNge; move/negP; apply.
Qed.

(* --- parity --- *)

(* The number of ones is odd. *)
Definition parity n (w : word ('I_n : finType) (bool : finType)) : bool :=
  odd (\sum_(i < n) w i).

Lemma odd_sum (J : finType) (b : J -> bool) : odd (\sum_j b j) = \big[addb/false]_j b j.
Proof.
by rewrite (big_morph odd oddD (erefl : odd 0 = false)); apply: eq_bigr => j _; rewrite oddb.
Qed.

Lemma flip_odd (J : finType) (b : {ffun J -> bool}) j :
  \big[addb/false]_l flip j b l = ~~ \big[addb/false]_l b l.
Proof.
rewrite [LHS](bigD1 j) // [in RHS](bigD1 j) //= ffunE eqxx -addNb; congr (_ (+) _).
by apply: eq_bigr => l lj; rewrite ffunE (negbTE lj).
Qed.

(* Head h reads bit m H + h at step m; the thought is the step and the parity so far. *)
Definition add_up n H : decoder ('I_n : finType) (bool : finType) H bool (nat * bool) :=
  @Decoder _ _ H bool (nat * bool) _ (nat : orderType _)
  (fun x h (i : 'I_n) _ => (i == x.1 * H + h :> nat) : nat)
  (fun x o => (x.1.+1, x.2 (+) \big[addb/false]_(h < H)
     (if o h is Some (i, b) then (i == x.1 * H + h :> nat) && b else false)))
  (0, false) snd.

Lemma add_up_run n H w m :
  iter m (step (add_up n H) w) (0, false)
  = (m, \big[addb/false]_(0 <= j < m * H) extend false w j).
Proof.
elim: m => [|m IH]; first by rewrite big_geq.
rewrite iterS IH /step /=; congr (_, _).
rewrite [in RHS](@big_cat_nat _ _ _ (m * H)) ?leq_mul2r ?leqnSn ?orbT //=; congr (_ (+) _).
have -> F : \big[addb/false]_(m * H <= j < m.+1 * H) F j
    = \big[addb/false]_(h < H) F (h + m * H).
  by rewrite -{1}[m * H]add0n big_addn mulSn addnK big_mkord.
apply: eq_bigr => h _; rewrite ffunE /sees addnC /extend; case: insubP => [i _ iE|ge].
  rewrite (@attend_to _ _ _ _ i) => [|j ji] /=; first by rewrite iE eqxx.
  rewrite iE eqxx; case: eqP => // e; move/eqP: ji => []; apply: val_inj.
  by rewrite /= iE.
case: (attended _ _) => //= i; case: eqP => //= e.
by move: ge; rewrite -e ltn_ord.
Qed.

Lemma divup_leq n H t : 0 < H -> ((n + H - 1) %/ H <= t) = (n <= H * t).
Proof. by move=> H0; rewrite -ltnS ltn_divLR // mulSn [t * H]mulnC; lia. Qed.

(* Claim: least_depth/parity_steps, upper end. *)
Lemma parity_at_least n H t : n <= H * t -> thinks H (@parity n) t.
Proof.
move=> nt; apply: (@finite_thoughts _ _ _ _ _ (add_up n H)) => w.
rewrite add_up_run /= /parity odd_sum (@big_cat_nat _ _ _ n) //=; last by rewrite mulnC.
rewrite [X in _ (+) X]big_nat_cond [X in _ (+) X]big1; last first.
  by move=> j /andP [/andP [nj _] _]; rewrite /extend insubF // ltnNge nj.
by rewrite addbF big_mkord; apply: eq_bigr => i _; rewrite /extend valK.
Qed.

(* Lower end: whatever the scores, H heads read H bits a step. *)
Lemma parity_at_most n H t : thinks H (@parity n) t -> n <= H * t.
Proof.
case=> T [f right]; rewrite -[n in n <= _]card_ord.
apply: (@bits_read _ _ _ _ (fun b => b) (fun i => i) (@parity n) _ _ H T f t right) => // b j.
by rewrite /parity !odd_sum flip_odd; case: (\big[addb/false]_l _).
Qed.

Lemma coq_divn m d : PeanoNat.Nat.div m d = m %/ d.
Proof.
case: d => [|d]; first by rewrite divn0.
symmetry; apply: (@PeanoNat.Nat.div_unique m d.+1 _ (m %% d.+1)).
  by apply/ltP; rewrite ltn_mod.
by rewrite [LHS](divn_eq m d.+1) mulnC.
Qed.

Definition parity_steps_value (n H : N) : N := N.div (n + H - 1) H.

Lemma parity_steps_valueE n H :
  parity_steps_value (bin_of_nat n) (bin_of_nat H) = bin_of_nat ((n + H - 1) %/ H).
Proof.
rewrite /parity_steps_value !of_nat_bin -Nnat.Nat2N.inj_add -(Nnat.Nat2N.inj_sub _ 1).
by rewrite -Nnat.Nat2N.inj_div coq_divn.
Qed.

(* Claim: least_depth/parity_steps. H heads take ceil(n/H) steps for the parity of n bits. *)
Theorem parity_steps n H t : 0 < H ->
  thinks H (@parity n) t
  <-> nat_of_bin (parity_steps_value (bin_of_nat n) (bin_of_nat H)) <= t.
Proof.
move=> H0; rewrite parity_steps_valueE bin_of_natK divup_leq //.
by split; [apply: parity_at_most | apply: parity_at_least].
Qed.

(* --- composition --- *)

(* s_k(...s_2(s_1(x))), read off the cells (a, c), which say s_a(c). *)
Definition composed_cells (D : finType) k (x : D) (w : word (('I_k * D)%type : finType) D) : D :=
  composed (fun a c => w (a, c)) x.

(* A step follows one map. *)
Definition follower (D : finType) k (x : D) : decoder (('I_k * D)%type : finType) D 1 D (nat * D) :=
  @Decoder _ _ 1 D (nat * D) _ (nat : orderType _)
  (fun p _ (i : 'I_k * D) _ => ((i.1 == p.1 :> nat) && (i.2 == p.2)) : nat)
  (fun p o => if p.1 < k then if o ord0 is Some (_, v) then (p.1.+1, v) else p else p)
  (0, x) snd.

Lemma composition_at_least (D : finType) k (x : D) t : k <= t ->
  thinks 1 (@composed_cells D k x) t.
Proof.
move=> kt; apply: (@finite_thoughts _ _ _ _ _ (follower k x)) => w.
rewrite /composed_cells -(@follow_all D k (fun a c => w (a, c)) x t kt) [LHS]/=.
congr _.2; apply: eq_iter => p; rewrite /step /follow /=.
case: insubP => [a ak aE|/negbTE-> //]; rewrite ak ffunE /sees.
rewrite (@attend_to _ _ _ _ (a, p.2)) /= ?aE // => -[j c] /= ne; rewrite !eqxx.
by move: ne; rewrite xpair_eqE -val_eqE /= aE; case: (_ && _).
Qed.

(* Maps that swap x and y, or do nothing. *)
Definition swap (D : eqType) (x y c : D) : D := if c == x then y else if c == y then x else c.
Definition swaps (D : finType) k (x y : D) (b : {ffun 'I_k -> bool}) :
    word (('I_k * D)%type : finType) D :=
  [ffun p => if b p.1 then swap x y p.2 else p.2].

Lemma swaps_composed (D : finType) k (x y : D) b : x != y ->
  composed_cells x (@swaps D k x y b) = if \big[addb/false]_a b a then y else x.
Proof.
move=> xy; rewrite /composed_cells /composed -big_enum /=.
have odd_swaps p r : foldl (fun c a => swaps x y b (a, c)) (if p then y else x) r
    = if p (+) \big[addb/false]_(a <- r) b a then y else x.
  elim: r p => [|a r IH] p; first by rewrite big_nil addbF.
  rewrite big_cons addbA -IH /=; congr foldl; rewrite ffunE /=; case: (b a); rewrite ?addbF //.
  by rewrite addbT /swap; case: p; rewrite /= eqxx // eq_sym (negbTE xy).
exact: odd_swaps false _.
Qed.

(* In t steps H heads compose at most H t maps. *)
Theorem composed_at_most (D : finType) k H (x : D) t :
  1 < #|D| -> thinks H (@composed_cells D k x) t -> k <= H * t.
Proof.
move=> D2 [T [f right]]; rewrite -[k in k <= _]card_ord.
have [y xy] : exists y, x != y.
  have /card_gt1P [u [v [_ _ uv]]] := D2.
  by have [->|] := eqVneq x u; [exists v | exists u].
apply: (@bits_read _ _ _ _ (swaps x y) fst _ _ _ H T f t right) => [[a c] b b' e|b j].
  by rewrite !ffunE /= e.
rewrite !swaps_composed // flip_odd; case: (\big[addb/false]_l _) => /= /eqP.
  by rewrite (negbTE xy).
by rewrite eq_sym (negbTE xy).
Qed.

Definition composition_steps_value (k : N) : N := k.

Lemma composition_steps_valueE k : composition_steps_value (bin_of_nat k) = bin_of_nat k.
Proof. by []. Qed.

(* Claim: least_depth/composition_steps. One head composes k maps of two or more elements in k
   steps and in no fewer. *)
Theorem composition_steps (D : finType) k (x : D) t : 1 < #|D| ->
  thinks 1 (@composed_cells D k x) t <-> nat_of_bin (composition_steps_value (bin_of_nat k)) <= t.
Proof.
move=> D2; rewrite bin_of_natK; split=> [/(composed_at_most D2)|kt]; first by rewrite mul1n.
exact: composition_at_least kt.
Qed.

(* --- the k-th one --- *)

(* The position of the k-th one, from 1, for k >= 1; 0 if there are fewer. *)
Definition kth_one n k (w : word ('I_n : finType) (bool : finType)) : nat :=
  nth 0 [seq (nat_of_ord i).+1 | i <- enum 'I_n & w i] k.-1.

(* Bits are read in their order, until the one is found or too few bits are left. *)
Fixpoint ones_tree n (s : seq 'I_n) k : tree ('I_n : finType) (bool : finType) nat :=
  if s is i :: s' then
    if size s < k then Leaf _ _ 0
    else Node i true
      (if k == 1 then Leaf _ _ (nat_of_ord i).+1 else ones_tree s' k.-1) (ones_tree s' k)
  else Leaf _ _ 0.

Lemma ones_tree_rank n (s : seq 'I_n) k : 0 < k ->
  tree_rank (ones_tree s k) <= minn k (size s + 1 - k).
Proof.
elim: s k => // i s IH k k0; rewrite [ones_tree _ _]/=; case: ifP => // ks.
have yes : tree_rank (if k == 1 then Leaf _ _ (nat_of_ord i).+1 else ones_tree s k.-1)
    <= minn k.-1 (size s + 1 - k.-1).
  by case: eqP => [->//|k1]; apply: IH; lia.
have no := IH k k0; rewrite tree_rank_node; move: yes no.
set y := tree_rank _; set z := tree_rank _.
by move: ks => /=; lia.
Qed.

Lemma ones_tree_said n (s : seq 'I_n) k w : 0 < k ->
  said (ones_tree s k) w = nth 0 [seq (nat_of_ord i).+1 | i <- s & w i] k.-1.
Proof.
elim: s k => [|i s IH] k k0; first by rewrite /= nth_nil.
rewrite [ones_tree _ _]/=; case: ifP => [ks|_].
  rewrite nth_default // size_map size_filter; apply: leq_trans (count_size _ _) _.
  by move: ks => /=; lia.
rewrite /= eqb_id; case: (w i); last exact: IH.
by case: k k0 => [//|[//|k]] _; rewrite /= IH.
Qed.

Lemma kth_one_at_least n k : 0 < k -> ranked (@kth_one n k) (minn k (n + 1 - k)).
Proof.
move=> k0; exists (ones_tree (enum 'I_n) k) => [|w]; last exact: ones_tree_said.
by have := ones_tree_rank (enum 'I_n) k0; rewrite size_enum_ord.
Qed.

Lemma kth_one_eq0 n k (w : word _ _) : 0 < k ->
  (@kth_one n k w == 0) = (#|[set i | w i]| < k).
Proof.
move=> k0; rewrite /kth_one.
have sizeE : size [seq (nat_of_ord i).+1 | i <- enum 'I_n & w i] = #|[set i | w i]|.
  rewrite size_map size_filter -sum1_count big_enum_cond -sum1dep_card.
  by apply: eq_bigl => i.
rewrite -sizeE; case: ltnP => [lt|ge]; first by rewrite nth_default ?eqxx; lia.
set s := [seq i <- _ | _] in sizeE ge *; move: ge; rewrite size_map => ge.
case e: s ge => [|i r] ge; first by move: ge => /=; lia.
by rewrite (nth_map i) //; move: ge => /=; lia.
Qed.

(* Outside F the bits are those of c; between r and #|F| + 1 - r of the free bits are asked for. *)
Definition kth_hard n k r (Q : {set word ('I_n : finType) (bool : finType)}) :=
  exists (F : {set 'I_n}) (c : {ffun 'I_n -> bool}),
    [/\ forall w : word _ _, {in ~: F, w =1 c} -> w \in Q,
        #|[set i | (i \notin F) && c i]| + r <= k &
        k + r <= #|[set i | (i \notin F) && c i]| + #|F| + 1].

Lemma kth_fix n k r (Q Q' : {set word ('I_n : finType) (bool : finType)}) (F : {set 'I_n})
    (c : {ffun 'I_n -> bool}) i v : i \in F ->
  (forall w : word _ _, {in ~: F, w =1 c} -> w \in Q) ->
  #|[set i | (i \notin F) && c i]| + r.+1 <= k ->
  k + r.+1 <= #|[set i | (i \notin F) && c i]| + #|F| + 1 ->
  (forall w, w \in Q -> w i = v -> w \in Q') -> @kth_hard n k r Q'.
Proof.
move=> iF inQ lo hi sub; exists (F :\ i), [ffun j => if j == i then v else c j].
set ones := #|_| in lo hi; have cardF : #|F| = #|F :\ i|.+1 by rewrite (cardsD1 i) iF.
have onesE : #|[set j | (j \notin F :\ i) && [ffun j => if j == i then v else c j] j]| = v + ones.
  rewrite (cardsD1 i) !inE ffunE !eqxx /=; congr (_ + _); apply: eq_card => j.
  by rewrite !inE ffunE; case: eqP => [->|_] //=; rewrite iF.
rewrite onesE; split; [|by have := leq_b1 v; lia..].
move=> w same; apply: sub; last by rewrite same ?inE ?eqxx // ffunE eqxx.
by apply: inQ => j; rewrite inE => jF; rewrite same ?inE ?ffunE ?negb_and ?jF ?orbT //;
   case: eqP => // ji; move: jF; rewrite ji iF.
Qed.

(* At least k ones or not: whatever is asked, a tree has this rank. *)
Lemma kth_one_at_most n k r : 0 < k <= n -> ranked (@kth_one n k) r -> minn k (n + 1 - k) <= r.
Proof.
move=> /andP [k0 kn] [T rT sT]; apply: leq_trans rT.
apply: (@hard_rank _ _ _ (@kth_one n k) (@kth_hard n k) _ _ _ setT) => [r' Q|r' Q i a||].
- move=> [F [c [inQ lo hi]]]; set ones := #|_| in lo hi.
  exists [ffun i => (i \notin F) && c i], [ffun i => (i \in F) || c i]; split.
  + by apply: inQ => i; rewrite inE ffunE => ->.
  + by apply: inQ => i; rewrite inE ffunE => /negbTE->.
  move=> e; have := kth_one_eq0 [ffun i => (i \notin F) && c i] k0.
  rewrite {}e kth_one_eq0 //.
  have -> : #|[set i | [ffun i => (i \notin F) && c i] i]| = ones.
    by apply: eq_card => i; rewrite !inE ffunE.
  have -> : #|[set i | [ffun i => (i \in F) || c i] i]| = #|F| + ones.
    rewrite -(cardsID F); congr (_ + _); apply: eq_card => i; rewrite !inE ffunE.
      by case: (i \in F); rewrite ?andbT ?andbF.
    by case: (i \in F); rewrite ?andbT ?andbF.
  by lia.
- move=> [F [c [inQ lo hi]]]; case iF: (i \in F); last first.
    case ca: (c i == a); [apply: Or31 | apply: Or32]; exists F, c; split=> // w same;
      by rewrite inE inQ //= same ?inE ?iF ?ca.
  apply: Or33; split.
    by apply: (kth_fix (v := a) iF inQ lo hi) => w wQ e; rewrite inE wQ e eqxx.
  apply: (kth_fix (v := ~~ a) iF inQ lo hi) => w wQ e; rewrite inE wQ e.
  by case: (a).
- exists setT, [ffun=> false]; split=> [w _||]; first by rewrite inE.
    by rewrite (_ : [set _ | _] = set0) ?cards0; [lia | apply/setP => i; rewrite !inE].
  rewrite (_ : [set _ | _] = set0) ?cards0; last by apply/setP => i; rewrite !inE.
  by rewrite cardsT card_ord; lia.
by move=> w _; apply: sT.
Qed.

Definition kth_one_steps_value (k n : N) : N := N.min k (n - k + 1).

Lemma kth_one_steps_valueE k n : k <= n ->
  kth_one_steps_value (bin_of_nat k) (bin_of_nat n) = bin_of_nat (minn k (n + 1 - k)).
Proof. by rewrite /kth_one_steps_value !of_nat_bin => kn; lia. Qed.

Lemma ranked_leq (I A : finType) B (g : word I A -> B) r r' : r <= r' -> ranked g r -> ranked g r'.
Proof. by move=> le [T rT sT]; exists T => //; apply: leq_trans le. Qed.

(* Claim: least_depth/kth_one_steps. One head finds the k-th one of n bits in min(k, n - k + 1)
   steps, and in no fewer. *)
Theorem kth_one_steps n k t : 0 < k <= n ->
  thinks 1 (@kth_one n k) t
  <-> nat_of_bin (kth_one_steps_value (bin_of_nat k) (bin_of_nat n)) <= t.
Proof.
move=> kn; rewrite kth_one_steps_valueE ?bin_of_natK; last by case/andP: kn.
rewrite steps_are_rank; split=> [|le]; first exact: kth_one_at_most.
by apply: ranked_leq le _; apply: kth_one_at_least; case/andP: kn.
Qed.

(* --- one map, applied again and again --- *)

Section Iteration.

(* The map has n + 1 elements; its values are the letters. *)
Variable n : nat.
Let E := ('I_n.+1 : finType).
Notation map := (word E E).
Implicit Types (Q : {set map}) (w c : map) (S : {set 'I_n.+1}).

Definition iterated l (w : map) : 'I_n.+1 := iter l w ord0.

(* Words that map e and S into S, and all else as c does; what is asked is e, moved h times. *)
Definition walks l Q e S h c :=
  e \notin S /\ forall w, {in ~: (e |: S), w =1 c} -> (forall x, x \in e |: S -> w x \in S) ->
    w \in Q /\ iterated l w = iter h w e.

Definition walk_hard l r Q :=
  match r with
  | 0 => True
  | 1 => exists w w', [/\ w \in Q, w' \in Q & iterated l w <> iterated l w']
  | _ => exists e S h c, [/\ walks l Q e S h c, r <= h & r <= #|S|]
  end.

Lemma two_in S : 1 < #|S| -> exists s s', [/\ s \in S, s' \in S & s != s'].
Proof. by case/card_gt1P => s [s' [sS s'S ne]]; exists s, s'. Qed.

Lemma other_in S a : 1 < #|S| -> exists2 s, s \in S & s != a.
Proof.
case/two_in=> s [s' [sS s'S ne]]; have [sa|] := eqVneq s a; last by exists s.
by exists s' => //; rewrite -sa eq_sym.
Qed.

(* The value a at i, where the letters u are free. *)
Definition walk_with S (e i a : 'I_n.+1) (u : 'I_n.+1 -> 'I_n.+1) c : map :=
  [ffun x => if x \in e |: S then if x == i then a else u x else c x].

Lemma walk_withP l Q e S h c i a u : walks l Q e S h c -> a \in S -> i \in e |: S ->
  (forall x, u x \in S) -> let w := walk_with S e i a u c in
  [/\ w \in Q, w i = a, iterated l w = iter h w e &
      forall x, x \in e |: S -> x != i -> w x = u x].
Proof.
move=> [eS inQ] aS iV uS w; have [wQ wE] : w \in Q /\ iterated l w = iter h w e.
  apply: inQ => x; first by rewrite !inE ffunE !inE => /negbTE->.
  by move=> xV; rewrite ffunE xV; case: eqP.
split=> //; first by rewrite ffunE iV eqxx.
by move=> x xV xi; rewrite ffunE xV (negbTE xi).
Qed.

Lemma walk_fix l r Q Q' e S h c i a : walks l Q e S h c -> r.+2 <= h -> r.+2 <= #|S| ->
  i \in e |: S -> a \in S -> (forall w, w \in Q -> w i = a -> w \in Q') -> walk_hard l r.+1 Q'.
Proof.
move=> W hr Sr iV aS sub; have [eS inQ] := W.
case: r hr Sr => [|r] hr Sr; last first.
  have [ie|ie] := eqVneq i e.
    exists a, (S :\ a), h.-1, [ffun x => if x == e then a else c x]; split.
    - split; first by rewrite !inE eqxx.
      move=> w; rewrite setD1K // => same into.
      have we : w e = a by rewrite same ?inE // ffunE eqxx.
      have [||wQ ->] := inQ w.
      + move=> x; rewrite !inE negb_or => /andP [xe xS].
        by rewrite same ?inE // ffunE (negbTE xe).
      + move=> x; rewrite !inE => /orP [/eqP->|xS]; first by rewrite we.
        by have := into x xS; rewrite inE => /andP [].
      split; first by apply: sub; rewrite // ie.
      by case: (h) hr => // h' _; rewrite iterSr we.
    - lia.
    by rewrite (cardsD1 a) aS in Sr; lia.
  have iS : i \in S by move: iV; rewrite !inE (negbTE ie).
  exists e, (S :\ i), h, [ffun x => if x == i then a else c x]; split.
  - split; first by rewrite !inE negb_and eS orbT.
    move=> w same into.
    have wi : w i = a by rewrite same ?ffunE ?eqxx // !inE (negbTE ie) eqxx.
    have [||wQ wE] := inQ w.
    + move=> x; rewrite !inE negb_or => /andP [xe xS].
      rewrite same ?ffunE; first by case: eqP xS => // ->; rewrite iS.
      by rewrite !inE (negbTE xe) (negbTE xS) andbF.
    + move=> x xV; have [->|xi] := eqVneq x i; first by rewrite wi.
      by have := into x; rewrite !inE xi /= -in_setU1 xV => /(_ isT) /andP [].
    by split=> //; apply: sub.
  - lia.
  by rewrite (cardsD1 i) iS in Sr; lia.
have eV : e \in e |: S by rewrite !inE eqxx.
have SV x : x \in S -> x \in e |: S by rewrite !inE => ->; rewrite orbT.
have Se x : x \in S -> x != e by apply: contraTneq => ->.
have [ie|ie] := eqVneq i e.
  have [s [s' [sS s'S ne]]] := two_in Sr.
  have ends u : u \in S -> exists2 w, w \in Q' & iterated l w = u.
    move=> uS; have [wQ wi wE wx] := walk_withP W aS iV (fun=> uS).
    set w := walk_with _ _ _ _ _ _ in wQ wi wE wx; exists w; first exact: sub.
    have fixed x : x \in S -> w x = u by move=> xS; rewrite wx ?SV // ie Se.
    have we : w e = a by rewrite -ie.
    rewrite wE; case: (h) hr => [//|[//|h']] _; rewrite iterSr we.
    by elim: h' => [|h' IH]; rewrite iterS ?IH fixed.
  have [w wQ wE] := ends s sS; have [w' w'Q w'E] := ends s' s'S.
  by exists w, w'; split=> //; rewrite wE w'E; apply/eqP.
have iS : i \in S by move: iV; rewrite !inE (negbTE ie).
have [s [sS si fix_s]] : exists s, [/\ s \in S, s != i & a = i \/ a = s].
  have [ai|ai] := eqVneq a i; last by exists a; split=> //; right.
  by have [s sS si] := other_in i Sr; exists s; split=> //; left.
have [wQ wi wE wx] := walk_withP W aS iV (fun=> sS).
set w := walk_with _ _ _ _ _ _ in wQ wi wE wx.
have w_s : iterated l w = s.
  rewrite wE; case: (h) hr => // h' _; elim: h' => [|h' IH]; rewrite iterS ?IH wx // ?SV //.
  by rewrite eq_sym.
have [w' [w'Q w'E]] : exists w', w' \in Q' /\ iterated l w' = i; last first.
  exists w, w'; split=> //; first exact: sub.
  by rewrite w_s w'E; apply/eqP.
case: fix_s => ai.
  have [vQ vi vE vx] := walk_withP W aS iV (fun=> iS).
  set v := walk_with _ _ _ _ _ _ in vQ vi vE vx; exists v; split; first exact: sub.
  rewrite vE; case: (h) hr => // h' _; elim: h' => [|h' IH]; rewrite iterS ?IH ?vi //.
  by rewrite vx // eq_sym.
pose u x := if (x == e) && ~~ odd h then s else i.
have uS x : u x \in S by rewrite /u; case: ifP.
have [vQ vi vE vx] := walk_withP W aS iV uS.
set v := walk_with _ _ _ _ _ _ in vQ vi vE vx; exists v; split; first exact: sub.
have vs : v s = i by rewrite vx ?SV // /u (negbTE (Se s sS)).
have run m : iter m.+1 v e = if odd m (+) odd h then i else s.
  elim: m => [|m IH]; first by rewrite /= vx ?(eq_sym e) // /u eqxx /=; case: (odd h).
  rewrite iterS IH /=; case: (odd m (+) odd h) / boolP => [|/negbTE] e'.
    by rewrite vi ai addNb e'.
  by rewrite vs addNb e'.
rewrite vE; case: (h) hr run => // h' _ ->; rewrite /= addbN addbb.
by [].
Qed.

(* However often the map is applied, a tree has this rank. *)
Lemma iterated_at_most l r : 0 < l -> ranked (iterated l) r -> minn l n <= r.
Proof.
move=> l0 [T rT sT]; apply: leq_trans rT.
apply: (@hard_rank _ _ _ (iterated l) (walk_hard l) _ _ _ setT) => [r' Q|r' Q i a||].
- case: r' => // r' [e [S [h [c [W hr Sr]]]]].
  have [a aS _] : exists2 s, s \in S & s != e by apply: other_in; lia.
  have eV : e \in e |: S by rewrite !inE eqxx.
  have [|||w [w' [wQ w'Q ne]]] := @walk_fix l 0 Q Q e S h c e a W _ _ eV aS _; [lia|lia|by []|].
  by exists w, w'.
- case: r' => [_|r' [e [S [h [c [W hr Sr]]]]]]; first exact: Or33.
  have [eS inQ] := W.
  case iV: (i \in e |: S); last first.
    have sub Q' : (forall w, w \in Q -> w i = c i -> w \in Q') -> walk_hard l r'.+2 Q'.
      move=> into'; exists e, S, h, c; split=> //; split=> // w same into.
      have [wQ wE] := inQ w same into; split=> //; apply: into' => //.
      by rewrite same // inE iV.
    by case ca: (c i == a); [apply: Or31 | apply: Or32]; apply: sub => w wQ wi;
       rewrite inE wQ wi ca.
  case aS: (a \in S); last first.
    apply: Or32; exists e, S, h, c; split=> //; split=> // w same into.
    have [wQ wE] := inQ w same into; rewrite inE wQ; split=> //=.
    by apply: contraFneq aS => <-; apply: into.
  have [b bS ba] : exists2 b, b \in S & b != a by apply: other_in; lia.
  apply: Or33; split.
    by apply: (walk_fix W hr Sr iV aS) => w wQ e'; rewrite inE wQ e' eqxx.
  by apply: (walk_fix W hr Sr iV bS) => w wQ e'; rewrite inE wQ e'.
- case e: (minn l n) => [//|[|r']] /=.
    have two u : iterated l [ffun=> u] = u.
      by rewrite /iterated; case: (l) l0 => // l' _; elim: l' => [|l' IH]; rewrite iterS ffunE.
    exists [ffun=> ord0], [ffun=> ord_max]; rewrite !two !inE; split=> // e'.
    by have := congr1 val e'; move=> /= ; lia.
  exists ord0, [set~ ord0], l, [ffun=> ord0]; split; [split|lia|].
  - by rewrite !inE eqxx.
  - by move=> w _ _; rewrite inE.
  by rewrite cardsC1 card_ord; lia.
by move=> w _; apply: sT.
Qed.

End Iteration.

Section Tracker.

Variable n : nat.
Notation E := ('I_n.+1 : finType).

(* The thought is the path so far. When all elements but one are on it, its end is read if it leads
   back, else the element that is left. *)
Definition tracker l : decoder E E 1 'I_n.+1 (seq 'I_n.+1) :=
  @Decoder E E 1 'I_n.+1 (seq 'I_n.+1) _ (nat : orderType _)
  (fun p _ i b => if size p < n then (i == last ord0 p) : nat
     else if (i == last ord0 p) && (b \in p) then 2 else (i \notin p) : nat)
  (fun p o => if o ord0 is Some (i, b) then
     if i == last ord0 p then rcons p b else rcons (rcons p i) b else p)
  [:: ord0]
  (fun p => iter l (fun x => nth ord0 p (index x p).+1) ord0).

Lemma last_traject (w : 'I_n.+1 -> 'I_n.+1) m : last ord0 (traject w ord0 m.+1) = iter m w ord0.
Proof. by rewrite trajectSr last_rcons. Qed.

Lemma tracker_run l (w : word E E) m : m < n ->
  iter m (step (tracker l) w) [:: ord0] = traject w ord0 m.+1.
Proof.
elim: m => // m IH mn; rewrite iterS IH ?(ltnW mn) // (trajectSr _ _ m.+1) iterS.
have := last_traject w m; have := size_traject w ord0 m.+1; set p := traject w ord0 m.+1.
clearbody p => sizep lastE; rewrite /step /= ffunE /sees.
rewrite (@attend_to _ _ _ _ (iter m w ord0)) => [|j ne] /=.
  by rewrite lastE eqxx.
by rewrite sizep mn lastE eqxx (negbTE ne).
Qed.

Lemma tracker_last l (w : word E E) : 0 < n -> exists m,
  [/\ n <= m, looping w ord0 m &
      iter n (step (tracker l) w) [:: ord0] = traject w ord0 m.+1].
Proof.
move=> n0; set e := iter n.-1 w ord0; set p := traject w ord0 n.
have pE : iter n.-1 (step (tracker l) w) [:: ord0] = p by rewrite tracker_run ?prednK.
have lastE : last ord0 p = e by have := last_traject w n.-1; rewrite prednK.
have stepE : iter n (step (tracker l) w) [:: ord0] = step (tracker l) w p.
  by rewrite -pE -iterS prednK.
have weE : w e = iter n w ord0 by rewrite /e -iterS prednK.
have sizep : size p = n by rewrite size_traject.
have pS : rcons p (w e) = traject w ord0 n.+1 by rewrite trajectSr weE.
have pn : w e \in p = looping w ord0 n by rewrite /looping -weE.
clearbody p e; case back: (w e \in p); rewrite back in pn.
  exists n; split=> //.
  rewrite stepE -pS /step /= ffunE /sees (@attend_to _ _ _ _ e) => [|j je] /=.
    by rewrite lastE eqxx.
  by rewrite sizep ltnn lastE eqxx (negbTE je) back /=; case: (_ \notin _).
have uniq_all : uniq (traject w ord0 n.+1) by rewrite looping_uniq -pn.
have all_in x : x \in traject w ord0 n.+1.
  have := card_uniqP uniq_all; rewrite size_traject => full.
  have cardE : #|traject w ord0 n.+1| = #|'I_n.+1| by rewrite full card_ord.
  have sub : traject w ord0 n.+1 \subset 'I_n.+1 by apply/subsetP.
  by rewrite (subset_cardP cardE sub).
exists n.+1; split=> //; first exact: all_in.
rewrite stepE (trajectSr _ _ n.+1) -pS iterS -weE /step /= ffunE /sees.
have ep : e \in p by rewrite -lastE; case: (p) sizep n0 => [<-//|x r] _ _; exact: (mem_last x r).
rewrite (@attend_to _ _ _ _ (w e)) => [|j jne] /=.
  by rewrite lastE; case: eqP => // we; move: back; rewrite we ep.
have jp : j \in p by have := all_in j; rewrite -pS mem_rcons inE (negbTE jne).
rewrite sizep ltnn lastE jp back /=; case: eqP => [->|_] /=; last by case: ifP.
by rewrite back; case: ifP.
Qed.

Lemma tracker_answer l (w : word E E) m : (l <= m) || looping w ord0 m ->
  answer (tracker l) (traject w ord0 m.+1) = iterated l w.
Proof.
move=> known; have := erefl (traject w ord0 m.+1); move: {1 3}(traject _ _ _) => p pE.
rewrite /= /iterated.
have on_path j : j < l -> iter j w ord0 \in traject w ord0 m.
  move=> jl; case/orP: known => [lm|/loopingP //].
  by apply/trajectP; exists j => //; apply: leq_trans lm.
elim: (l) on_path => // j IH on_path; rewrite !iterS IH => [|i ij]; last exact/on_path/ltnW.
have x_in := on_path j (ltnSn j); set x := iter j w ord0 in x_in *.
have lt : index x (traject w ord0 m) < m by move: x_in; rewrite -index_mem size_traject.
have -> : index x p = index x (traject w ord0 m) by rewrite pE trajectSr -cats1 index_cat x_in.
rewrite pE nth_traject // iterS -(nth_traject _ lt).
by rewrite nth_index.
Qed.

Lemma iterated_at_least l t : minn l n <= t -> thinks 1 (@iterated n l) t.
Proof.
move=> le; apply/steps_are_rank; apply: ranked_leq le _; apply/steps_are_rank.
apply: (@finite_thoughts _ _ _ _ _ (tracker l)) => w.
rewrite -[iter _ _ (start _)]/(iter _ (step (tracker l) w) [:: ord0]).
case: (ltnP l n) => [ln|nl].
  by rewrite tracker_run // tracker_answer ?leqnn.
have [n0|n0] := posnP n; last first.
  by have [m [_ loop ->]] := tracker_last l w n0; rewrite tracker_answer // loop orbT.
have one (x y : 'I_n.+1) : x = y.
  by apply: val_inj => /=; have := ltn_ord x; have := ltn_ord y; lia.
exact: one.
Qed.

Definition iteration_steps_value (l elements : N) : N := N.min l (N.pred elements).

Lemma iteration_steps_valueE l elements :
  iteration_steps_value (bin_of_nat l) (bin_of_nat elements) = bin_of_nat (minn l elements.-1).
Proof. by rewrite /iteration_steps_value !of_nat_bin; lia. Qed.

(* Claim: least_depth/iteration_steps. One head applies a map of n + 1 elements l times, from a
   fixed start, in min(l, n) steps, and in no fewer. *)
Theorem iteration_steps l t : 0 < l ->
  thinks 1 (@iterated n l) t
  <-> nat_of_bin (iteration_steps_value (bin_of_nat l) (bin_of_nat n.+1)) <= t.
Proof.
move=> l0; rewrite iteration_steps_valueE bin_of_natK; split; last exact: iterated_at_least.
by move/steps_are_rank; apply: iterated_at_most.
Qed.

End Tracker.

(* --- instances --- *)

(* Seven bits, two heads: four steps, not three. *)
Example seven_bits : thinks 2 (@parity 7) 4.
Proof. exact/(@parity_steps 7 2 4 isT). Qed.
Example seven_bits_not_3 : ~ thinks 2 (@parity 7) 3.
Proof. by move/(@parity_steps 7 2 3 isT). Qed.

(* The third one of four bits takes two steps, where the printed number is three. *)
Example third_of_four : thinks 1 (@kth_one 4 3) 2.
Proof. exact/(@kth_one_steps 4 3 2 isT). Qed.
Example third_of_four_not_1 : ~ thinks 1 (@kth_one 4 3) 1.
Proof. by move/(@kth_one_steps 4 3 1 isT). Qed.
Example third_of_five_not_2 : ~ thinks 1 (@kth_one 5 3) 2.
Proof. by move/(@kth_one_steps 5 3 2 isT). Qed.

(* A map of four elements, applied four times: three steps, where the printed number is four. *)
Example four_times : thinks 1 (@iterated 3 4) 3.
Proof. exact/(@iteration_steps 3 4 3 isT). Qed.
Example four_times_not_2 : ~ thinks 1 (@iterated 3 4) 2.
Proof. by move/(@iteration_steps 3 4 2 isT). Qed.

(* Three maps of two elements. *)
Example three_maps : thinks 1 (@composed_cells (bool : finType) 3 false) 3.
Proof. by apply/composition_steps; rewrite ?card_bool. Qed.
Example three_maps_not_2 : ~ thinks 1 (@composed_cells (bool : finType) 3 false) 2.
Proof. by move/composition_steps; rewrite card_bool => /(_ isT). Qed.
