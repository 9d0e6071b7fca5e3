(* How many layers decide words of m blocks, with masks to both sides, and what a collapse leaves.

   Claims: least_depth/blocks_counted_both_ways (block_layers_least), of which
   least_depth/blocks_beyond_depth_two is the part that is measured at depth 2, and
   least_depth/collapse_caps_depth (collapse_cap_exact): theory/least_depth/counting_both_ways.py
   and collapse_cap.py. The proof in words is docs/collapse-caps-depth.md.

   A layer compares sums over the states up to a position and from it on, and gives the position
   any new state that depends on its own and on the answers. Weights are those of any ordered ring
   and may depend on the own state (queries); the set of states need not be finite. Such layers
   include formulas with counts to both sides, one layer for each level (the state is the vector of
   truths), and heads of softmax attention under either mask or none whose outputs are rounded to
   finitely many values (Bridges.rounded_transformer). No positions. Such a net is a transformer
   itself (Bridges.caps_transformer). Fixed states before and after a word stand for start and end
   tokens.

   Informal: that a set of formulas of depth L is a net of L layers, and that a net of L layers with
   finitely many states and whole weights is a set of formulas of depth L. *)

From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring zify.

Import Order.TTheory GRing.Theory Num.Theory.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* --- blocks --- *)

Definition changes (x : bool) (s : seq bool) : nat :=
  sumn (pairmap (fun y z => nat_of_bool (y != z)) x s).

(* Number of blocks: maximal runs of one letter. *)
Definition blocks (w : seq bool) : nat := if w is x :: s then (changes x s).+1 else 0.

(* Words of exactly m blocks, the first of a = true. *)
Definition block_word m (w : seq bool) : bool := (blocks w == m) && head false w.

(* The word starts with the letter c and ends with d. *)
Definition from_to c d (w : seq bool) : bool :=
  if w is x :: s then (x == c) && (last x s == d) else false.

Lemma changes_cat x s1 s2 : changes x (s1 ++ s2) = changes x s1 + changes (last x s1) s2.
Proof. by rewrite /changes pairmap_cat sumn_cat. Qed.

Lemma changes_cons x y s : changes x (y :: s) = (x != y) + changes y s.
Proof. by []. Qed.

Lemma changes_nseq x k : changes x (nseq k x) = 0.
Proof. by elim: k => //= k; rewrite /changes /= eqxx. Qed.

Lemma last_nseq (T : Type) (x : T) k : last x (nseq k x) = x.
Proof. by elim: k. Qed.

(* x letters a and y letters b, in two blocks of which the second is of c. *)
Definition before c x y : seq bool :=
  nseq (if c then y else x) (~~ c) ++ nseq (if c then x else y) c.
(* The same, the first block of d. *)
Definition after d x y : seq bool :=
  nseq (if d then x else y) d ++ nseq (if d then y else x) (~~ d).

Lemma count_before c x y :
  (count id (before c x y) = x) * (count negb (before c x y) = y).
Proof. by case: c; rewrite /before !count_cat !count_nseq /=; split; lia. Qed.

Lemma count_after d x y :
  (count id (after d x y) = x) * (count negb (after d x y) = y).
Proof. by case: d; rewrite /after !count_cat !count_nseq /=; split; lia. Qed.

Lemma blocks_framed c d x y x' y' w : 0 < x -> 0 < y -> 0 < x' -> 0 < y' -> from_to c d w ->
  blocks (before c x y ++ w ++ after d x' y') = (blocks w).+2 /\
  from_to (~~ c) (~~ d) (before c x y ++ w ++ after d x' y').
Proof.
move=> x0 y0 x'0 y'0; case: w => [//|e w] /= /andP[/eqP-> /eqP ends].
have shape p q r s : 0 < p -> 0 < q -> 0 < r -> 0 < s ->
  let z := (nseq p (~~ c) ++ nseq q c) ++ (c :: w) ++ nseq r d ++ nseq s (~~ d) in
  blocks z = (changes c w).+3 /\ from_to (~~ c) (~~ d) z.
  case: p q r s => [//|p] [//|q] [//|r] [//|s] _ _ _ _.
  set tail := nseq p (~~ c) ++ nseq q.+1 c ++ (c :: w) ++ nseq r.+1 d ++ nseq s.+1 (~~ d).
  rewrite (_ : (nseq p.+1 (~~ c) ++ nseq q.+1 c) ++ (c :: w) ++ nseq r.+1 d ++ nseq s.+1 (~~ d)
    = ~~ c :: tail); last by rewrite -catA.
  suff: (changes (~~ c) tail).+1 = (changes c w).+3 /\ last (~~ c) tail = ~~ d.
    by move=> [<- /=->]; rewrite !eqxx.
  rewrite /tail !changes_cat !last_cat !changes_cons !changes_nseq !last_nseq.
  by rewrite /= ends !last_nseq; split=> //; case: (c); case: (d) => /=; lia.
by rewrite /before /after; case: c d ends shape => -[] ends shape; apply: shape.
Qed.

Lemma last_from_to (T : Type) (q : T) st c d w : from_to c d w -> last q (map st w) = st d.
Proof. by case: w => //= x s /andP[_ /eqP <-]; rewrite last_map. Qed.

Lemma count_framed p c d x y x' y' w :
  count p (before c x y ++ w ++ after d x' y')
  = count p (before c x y) + (count p w + count p (after d x' y')).
Proof. by rewrite count_cat (count_cat _ w). Qed.

Lemma count_grown p c x y w b :
  count p (rcons (before c x y ++ w) b) = count p (before c x y) + (count p w + p b).
Proof. by rewrite -cats1 -catA count_cat (count_cat _ w) /= addn0. Qed.

(* Two words of n + 2 and n + 4 blocks with the same letters. *)
Fixpoint fewer c n : seq bool :=
  if n is k.+1 then c :: fewer (~~ c) k else [:: c; c; ~~ c; ~~ c].
Fixpoint more c n : seq bool :=
  if n is k.+1 then c :: more (~~ c) k else [:: c; ~~ c; c; ~~ c].

Lemma fewer_more c n : let d := ~~ (c (+) odd n) in
  [/\ blocks (fewer c n) = n.+2, blocks (more c n) = n.+4,
      from_to c d (fewer c n), from_to c d (more c n) & perm_eq (fewer c n) (more c n)].
Proof.
elim: n c => [|n IH] c /=; first by case: c.
have [] := IH (~~ c); rewrite !addNb negbK.
case E: (fewer _ n) => [//|x s]; case F: (more _ n) => [//|y t].
rewrite /= => [[xs]] [yt] /andP[/eqP ex /eqP ls] /andP[/eqP ey /eqP lt] p.
move: xs yt ls lt p; rewrite ex ey => xs yt ls lt p.
have st u : changes c (~~ c :: u) = (changes (~~ c) u).+1 by rewrite changes_cons; case: (c).
rewrite !st xs yt eqxx ls lt perm_cons; split=> //.
- by rewrite addbN negbK eqxx.
- by rewrite addbN negbK eqxx.
Qed.

Local Open Scope ring_scope.

Section Nets.

Variables (R : realDomainType) (Q : Type).

(* A comparison of counts: weights of the states up to here, of the states from here on, which may
   depend on the own state, and a bias. *)
Record comparison := Comparison { past : Q -> Q -> R; future : Q -> Q -> R; bias : Q -> R }.

(* The new state is any function of the old one and of the answers to finitely many comparisons. *)
Record layer := Layer { comparisons : seq comparison; update : Q -> seq bool -> Q }.

Definition total (f : Q -> R) (s : seq Q) : R := \sum_(x <- s) f x.

(* The answer at state q, with states p before it and n after it. *)
Definition holds (t : comparison) (p : seq Q) (q : Q) (n : seq Q) : bool :=
  0 <= total (past t q) (rcons p q) + total (future t q) (q :: n) + bias t q.

Definition renew (l : layer) p q n : Q := update l q [seq holds t p q n | t <- comparisons l].

(* New states of the positions s, with p before and n after them. *)
Fixpoint zone (l : layer) (p s n : seq Q) : seq Q :=
  if s is q :: s' then renew l p q (s' ++ n) :: zone l (rcons p q) s' n else [::].

Definition apply (l : layer) (s : seq Q) : seq Q := zone l [::] s [::].

(* The first layer of the list acts first. *)
Definition run (ls : seq layer) (s : seq Q) : seq Q := foldl (fun s l => apply l s) s ls.

(* --- sums are all that a layer sees --- *)

Lemma total_cat f s1 s2 : total f (s1 ++ s2) = total f s1 + total f s2.
Proof. exact: big_cat. Qed.

Lemma total_cons f q s : total f (q :: s) = f q + total f s.
Proof. exact: big_cons. Qed.

Lemma total_rcons f s q : total f (rcons s q) = total f s + f q.
Proof. by rewrite -cats1 total_cat total_cons /total big_nil addr0. Qed.

Definition alike (s s' : seq Q) : Prop := forall f, total f s = total f s'.

Lemma renew_alike l p p' q n n' : alike p p' -> alike n n' -> renew l p q n = renew l p' q n'.
Proof.
move=> pp nn; rewrite /renew; congr update; apply: eq_map => t.
by rewrite /holds !total_rcons !total_cons pp nn.
Qed.

Lemma zone_alike l p p' s n n' : alike p p' -> alike n n' -> zone l p s n = zone l p' s n'.
Proof.
elim: s p p' => [//|q s IH] p p' pp nn /=; congr cons.
  by apply: renew_alike => // f; rewrite !total_cat nn.
by apply: IH => // f; rewrite !total_rcons pp.
Qed.

Lemma zone_cat l p s1 s2 n :
  zone l p (s1 ++ s2) n = zone l p s1 (s2 ++ n) ++ zone l (p ++ s1) s2 n.
Proof.
elim: s1 p => [|q s1 IH] p /=; first by rewrite cats0.
by rewrite IH catA cat_rcons.
Qed.

Lemma size_zone l p s n : size (zone l p s n) = size s.
Proof. by elim: s p => //= q s IH p; rewrite IH. Qed.

Lemma size_run ls s : size (run ls s) = size s.
Proof. by elim: ls s => //= l ls IH s; rewrite IH size_zone. Qed.

Lemma last_alike l q0 s s' : size s = size s' -> alike s s' -> last q0 s = last q0 s' ->
  last q0 (apply l s) = last q0 (apply l s').
Proof.
case/lastP: s => [|s q]; case/lastP: s' => [|s' q'] //; rewrite ?size_rcons //.
move=> _ same; rewrite !last_rcons => qq; rewrite /apply -!cats1 !zone_cat !cats0 /=.
rewrite !last_cat /= -qq; apply: renew_alike => // f.
by have := same f; rewrite !total_rcons qq => /addIr.
Qed.

(* --- letters --- *)

Lemma total_letters (st : bool -> Q) f w :
  total f (map st w) = f (st true) *+ count id w + f (st false) *+ count negb w.
Proof.
elim: w => [|b w IH] /=; first by rewrite /total big_nil addr0.
by rewrite total_cons IH; case: b; rewrite /= !mulrnDr; ring.
Qed.

Lemma letters_alike (st : bool -> Q) w w' :
  count id w = count id w' -> count negb w = count negb w' -> alike (map st w) (map st w').
Proof. by move=> x y f; rewrite !total_letters x y. Qed.

(* --- a rectangle that no half-plane cuts --- *)

Definition half (h : R * R * R) (x y : nat) : bool := 0 <= h.1.1 *+ x + h.1.2 *+ y + h.2.

Lemma quadrant h X Y : exists dx dy, [/\ (dx <= X)%N, (dy <= Y)%N &
  forall x y, (x <= X)%N -> (y <= Y)%N -> half h (dx + x) (dy + y) = half h dx dy].
Proof.
case: h => [[a b] c]; pose v := half (a, b, c) X Y.
pose dx := if (0 <= a) == v then X else 0%N; pose dy := if (0 <= b) == v then Y else 0%N.
suff const x y : (x <= X)%N -> (y <= Y)%N -> half (a, b, c) (dx + x) (dy + y) = v.
  exists dx, dy; split; rewrite /dx /dy; try by case: ifP.
  move=> x y xX yY; rewrite const //.
  by have := const 0%N 0%N; rewrite !addn0 => ->.
move=> xX yY.
have side (e : R) d X' x' (x'X : (x' <= X')%N) : d = (if (0 <= e) == v then X' else 0%N) ->
    if v then e *+ X' <= e *+ (d + x') else e *+ (d + x') <= e *+ X'.
  move=> ->; case: (lerP 0 e) => [e0|/ltW e0]; case: (v) => /=.
  - by apply: ler_wpMn2l => //; apply: leq_addr.
  - by apply: ler_wpMn2l.
  - by apply: ler_wnMn2l.
  - by apply: ler_wnMn2l => //; apply: leq_addr.
have A := side a dx X x xX erefl; have B := side b dy Y y yY erefl.
have E : (0 <= a *+ X + b *+ Y + c) = v by [].
rewrite /half /=; clear side; clearbody dx dy v; case: v A B E => A B E.
- by apply: le_trans E _; rewrite lerD2r lerD.
- apply: negbTE; rewrite -ltNge; apply: le_lt_trans (_ : a *+ X + b *+ Y + c < 0).
    by rewrite lerD2r lerD.
  by rewrite ltNge E.
Qed.

Lemma uncut (hs : seq (R * R * R)) X Y : exists x0 y0,
  [/\ (x0 + X <= 2 ^ size hs * X)%N, (y0 + Y <= 2 ^ size hs * Y)%N &
  forall h, h \in hs -> forall x y, (x <= X)%N -> (y <= Y)%N ->
    half h (x0 + x) (y0 + y) = half h x0 y0].
Proof.
elim: hs X Y => [|h hs IH] X Y; first by exists 0%N, 0%N; rewrite !mul1n.
have [x1 [y1 [x1X y1Y far]]] := IH (2 * X)%N (2 * Y)%N.
have [dx [dy [dxX dyY near]]] :=
  quadrant (h.1, h.1.1 *+ x1 + h.1.2 *+ y1 + h.2) X Y.
have shift x y : half (h.1, h.1.1 *+ x1 + h.1.2 *+ y1 + h.2) x y = half h (x1 + x) (y1 + y).
  rewrite /half /= !mulrnDr; congr (0 <= _); ring.
exists (x1 + dx)%N, (y1 + dy)%N; split.
- by move: x1X; rewrite /= expnS -mulnA; lia.
- by move: y1Y; rewrite /= expnS -mulnA; lia.
move=> g; rewrite inE => /orP[/eqP->|ghs] x y xX yY.
  by rewrite -!addnA -!shift near.
by rewrite -!addnA !far //; lia.
Qed.

(* --- one layer is blind inside a rectangle --- *)

Section OneLayer.

Variables (l : layer) (st : bool -> Q) (P S : seq Q) (XX YY : nat).

(* The half-plane of positions, as points of counts, where a comparison says yes at the letter b. *)
Definition plane (b : bool) (t : comparison) : R * R * R :=
  let q := st b in
  let a := past t q (st true) - future t q (st true) in
  let c := past t q (st false) - future t q (st false) in
  (a, c, total (past t q) P + total (future t q) S + future t q (st true) *+ (XX + b)
    + future t q (st false) *+ (YY + ~~ b) + bias t q + a + c).

Lemma holds_plane t z1 b z2 x y :
  count id (rcons z1 b) = x.+1 -> count negb (rcons z1 b) = y.+1 ->
  count id (z1 ++ b :: z2) = XX -> count negb (z1 ++ b :: z2) = YY ->
  holds t (P ++ map st z1) (st b) (map st z2 ++ S) = half (plane b t) x y.
Proof.
move=> hx hy hX hY.
have nx : (XX + b = count id (b :: z2) + x.+1)%N.
  by rewrite -hX -hx -cats1 !count_cat /=; lia.
have ny : (YY + ~~ b = count negb (b :: z2) + y.+1)%N.
  by rewrite -hY -hy -cats1 !count_cat /=; lia.
rewrite /holds rcons_cat -map_rcons -cat_cons -map_cons !total_cat !total_letters hx hy.
rewrite /half /plane /fst /snd nx ny; congr (0 <= _); rewrite !mulrnDr !mulrS; ring.
Qed.

End OneLayer.

Definition factor (l : layer) : nat := 2 ^ (size (comparisons l)).*2.

Lemma one_layer l st P S X Y c d : exists P' S' st' x y x' y',
  [/\ 0 < x, 0 < y, 0 < x' & 0 < y']%N /\ forall w, count id w = X -> count negb w = Y ->
  let z := before c x y ++ w ++ after d x' y' in
  [/\ apply l (P ++ map st z ++ S) = P' ++ map st' w ++ S',
      count id z = (factor l * X + 2)%N & count negb z = (factor l * Y + 2)%N].
Proof.
set XX := (_ * X + 2)%N; set YY := (_ * Y + 2)%N.
pose hs := [seq plane st P S XX YY true t | t <- comparisons l] ++
           [seq plane st P S XX YY false t | t <- comparisons l].
have [x0 [y0 [xX yY same]]] := uncut hs X Y.
have size_hs : (2 ^ size hs = factor l)%N by rewrite size_cat !size_map addnn.
rewrite size_hs in xX yY.
pose u := before c x0.+1 y0.+1; pose v := after d (XX - X - x0.+1) (YY - Y - y0.+1).
pose st' b := update l (st b) [seq half (plane st P S XX YY b t) x0 y0 | t <- comparisons l].
pose w0 := nseq X true ++ nseq Y false.
exists (zone l [::] (P ++ map st u) (map st w0 ++ map st v ++ S)).
exists (zone l ((P ++ map st u) ++ map st w0) (map st v ++ S) [::]), st'.
exists x0.+1, y0.+1, (XX - X - x0.+1)%N, (YY - Y - y0.+1)%N.
split; first by split=> //; lia.
move=> w wX wY z; have zX : count id z = XX.
  by rewrite count_framed count_before count_after wX; lia.
have zY : count negb z = YY by rewrite count_framed count_before count_after wY; lia.
split=> //.
have middle w1 w2 : w1 ++ w2 = w ->
    zone l (P ++ map st (u ++ w1)) (map st w2) (map st v ++ S) = map st' w2.
  elim: w2 w1 => [//|b w2 IH] w1 w12 /=; congr cons; last first.
    by rewrite rcons_cat -map_rcons rcons_cat IH // cat_rcons.
  rewrite /renew /st' catA -map_cat; congr update.
  have part : (count id w1 + b + count id w2 = X)%N /\ (count negb w1 + ~~ b + count negb w2 = Y)%N.
    by rewrite -wX -wY -w12 !count_cat /=; split; lia.
  set x := (count id w1 + b)%N; set y := (count negb w1 + ~~ b)%N.
  rewrite (@eq_map _ _ _ (fun t => half (plane st P S XX YY b t) (x0 + x) (y0 + y))); last first.
    move=> t; apply: holds_plane.
    - by rewrite count_grown count_before /x; lia.
    - by rewrite count_grown count_before /y; lia.
    - by rewrite -zX /z -w12 -/u -/v -!catA.
    - by rewrite -zY /z -w12 -/u -/v -!catA.
  have side h : h \in [seq plane st P S XX YY b t | t <- comparisons l] ->
      half h (x0 + x) (y0 + y) = half h x0 y0.
    move=> hb; apply: same; rewrite /x /y; [|lia|lia].
    by rewrite mem_cat; case: (b) hb => ->; rewrite ?orbT.
  have := eq_in_map (fun h => half h (x0 + x) (y0 + y)) (fun h => half h x0 y0)
    [seq plane st P S XX YY b t | t <- comparisons l].
  by rewrite -!map_comp => -[/(_ side)].
have w0w : alike (map st w0) (map st w).
  by apply: letters_alike; rewrite !count_cat !count_nseq ?wX ?wY /=; lia.
have := middle [::] w erefl; rewrite cats0 => {}middle.
rewrite -[z]/(u ++ w ++ v) {zX zY z}; clearbody u v w0.
rewrite /apply !map_cat -!catA (catA P) zone_cat cats0 cat0s; congr (_ ++ _).
  by apply: zone_alike => // f; rewrite !total_cat w0w.
rewrite zone_cat cats0 {}middle -?catA; congr (_ ++ _).
by apply: zone_alike => // f; rewrite !total_cat w0w.
Qed.

(* Side of the outermost rectangle around one of side X. *)
Definition side (ls : seq layer) (X : nat) : nat := foldr (fun l n => (factor l * n + 2)%N) X ls.

Lemma layers_blind ls st P S X Y c d : exists P' S' st' u v, forall w,
  count id w = X -> count negb w = Y -> from_to c d w ->
  let z := u ++ w ++ v in
  [/\ run ls (P ++ map st z ++ S) = P' ++ map st' w ++ S',
      count id z = side ls X, count negb z = side ls Y, blocks z = (blocks w + (size ls).*2)%N &
      from_to (c (+) odd (size ls)) (d (+) odd (size ls)) z].
Proof.
elim: ls st P S => [|l ls IH] st P S.
  exists P, S, st, [::], [::] => w wX wY cd; rewrite /= cats0 addn0 !addbF.
  by split.
have [P1 [S1 [st1 [x [y [x' [y' [[x0 y0 x'0 y'0] one]]]]]]]] := one_layer l st P S (side ls X)
  (side ls Y) (c (+) odd (size ls)) (d (+) odd (size ls)).
have [P' [S' [st' [u [v rest]]]]] := IH st1 P1 S1.
exists P', S', st', (before (c (+) odd (size ls)) x y ++ u).
exists (v ++ after (d (+) odd (size ls)) x' y') => w wX wY cd z.
have [run_z zX zY zB zE] := rest w wX wY cd.
have [apply_z oX oY] := one _ zX zY.
have [oB oE] := blocks_framed x0 y0 x'0 y'0 zE.
have -> : z = before (c (+) odd (size ls)) x y ++ (u ++ w ++ v)
    ++ after (d (+) odd (size ls)) x' y' by rewrite /z -!catA.
split=> //; first by rewrite /= apply_z.
- by rewrite oB zB /=; lia.
- by rewrite /= !addbN.
Qed.

(* --- the cap --- *)

Definition states (embed : bool -> Q) (pre post : seq Q) ls w : seq Q :=
  run ls (pre ++ map embed w ++ post).

(* Two words of one length, one with m blocks and one with m + 2, end in one state. *)
Theorem same_last_state (ls : seq layer) (embed : bool -> Q) (pre post : seq Q) m :
  (0 < m)%N -> ((size ls).*2 <= m)%N -> exists w w',
  [/\ block_word m w, ~~ block_word m w', size w = size w' &
   forall q0, last q0 (states embed pre post ls w) = last q0 (states embed pre post ls w')].
Proof.
move=> m0 mL; case: (posnP (size ls)) => [/size0nil->|L0].
  case: m m0 mL => [//|[|n]] _ _.
    exists [:: true; true], [:: false; true]; split=> // q0.
    by rewrite /states /= !last_cat.
  have [bf bm ff fm p] := fewer_more true n.
  exists (fewer true n), (more true n); split.
  - by rewrite /block_word bf eqxx; case: (fewer _ _) ff => // x s /andP[/eqP-> _].
  - by rewrite /block_word bm; apply/nandP; left; lia.
  - exact: perm_size.
  by move=> q0; rewrite /states /run [LHS]/= [RHS]/= !last_cat (last_from_to _ _ ff)
    (last_from_to _ _ fm).
case/lastP: ls mL L0 => [//|ls l]; rewrite size_rcons => mL _.
set L := size ls in mL *; pose n := (m - L.*2 - 2)%N; pose c := ~~ odd L.
have nm : (n.+2 + L.*2 = m)%N by rewrite /n; move: mL; rewrite doubleS; lia.
clearbody n.
have [bf bm ff fm p] := fewer_more c n; set d := ~~ (c (+) odd n) in ff fm.
have [P' [S' [st' [u [v blind]]]]] := layers_blind ls embed pre post
  (count id (fewer c n)) (count negb (fewer c n)) c d.
have [rf _ _ zf ef] := blind _ erefl erefl ff.
have cX : count id (more c n) = count id (fewer c n) by rewrite (seq.permP p).
have cY : count negb (more c n) = count negb (fewer c n) by rewrite (seq.permP p).
have [rm _ _ zm em] := blind _ cX cY fm.
rewrite -/L in ef em zf zm; exists (u ++ fewer c n ++ v), (u ++ more c n ++ v); split.
- rewrite /block_word zf bf nm eqxx.
  by move: ef; rewrite /c; case: (_ ++ _) => //= x s /andP[/eqP-> _]; case: odd.
- by rewrite /block_word zm bm -nm eqn_add2r !eqSS; apply/nandP; left; elim: (n).
- by rewrite !size_cat (perm_size p).
move=> q0; rewrite /states -cats1 /run !foldl_cat /= -!/(run _ _) rf rm.
apply: last_alike.
- by rewrite !size_cat !size_map (perm_size p).
- by move=> f; rewrite !total_cat (letters_alike _ (esym cX) (esym cY)).
by rewrite !last_cat (last_from_to _ _ ff) (last_from_to _ _ fm).
Qed.

(* With L layers nothing that reads the last state decides words of m >= 2 L blocks. *)
Theorem blocks_beyond_layers (ls : seq layer) embed pre post (read : Q -> bool) q0 m :
  (0 < m)%N -> ((size ls).*2 <= m)%N ->
  exists w, read (last q0 (states embed pre post ls w)) != block_word m w.
Proof.
move=> m0 mL; have [w [w' [yes no _ same]]] := same_last_state embed pre post m0 mL.
case E: (read (last q0 (states embed pre post ls w))).
  by exists w'; rewrite -same E (negbTE no).
by exists w; rewrite E yes.
Qed.

(* All positions are in one state. *)
Definition collapsed (s : seq Q) : Prop := exists q, s = nseq (size s) q.

(* Whatever is stacked above a collapse after L layers: it does not decide words of m >= 2 L
   blocks. The rest of the net is any function of all states. *)
Theorem collapse_caps_depth (ls : seq layer) embed pre post (rest : seq Q -> bool) m :
  (forall w, (0 < size w)%N -> collapsed (states embed pre post ls w)) ->
  (0 < m)%N -> ((size ls).*2 <= m)%N ->
  exists w, rest (states embed pre post ls w) != block_word m w.
Proof.
move=> one m0 mL; have [w [w' [yes no sizes same]]] := same_last_state embed pre post m0 mL.
have w0 : (0 < size w)%N by case: w yes {sizes same} => //; case: m m0 {mL no}.
have k : size (states embed pre post ls w) = size (states embed pre post ls w').
  by rewrite !size_run !size_cat !size_map sizes.
have [q wq] := one w w0; have [q' wq'] := one w' (eq_ind _ (fun n => 0 < n)%N w0 _ sizes).
have e : states embed pre post ls w = states embed pre post ls w'.
  have := same q; rewrite wq wq' -k; case: (size _) => //= n.
  by rewrite !last_nseq => ->.
case E: (rest (states embed pre post ls w)).
  by exists w'; rewrite -e E (negbTE no).
by exists w; rewrite E yes.
Qed.

End Nets.

(* --- what averages make of a collapse --- *)

Section Averages.

Variables (R : realFieldType) (Q : Type) (q0 : Q).

(* A head: the weight of position j at position i, which may depend on all states and on the two
   positions, and the value of a state. A softmax under any mask is such a head. *)
Record attention := Attention { weight : seq Q -> nat -> nat -> R; value : Q -> R }.

Record mixing := Mixing { heads : seq attention; renewed : Q -> seq R -> Q }.

Definition normalised (l : mixing) : Prop := forall h s i, List.In h (heads l) ->
  (i < size s)%N -> \sum_(j < size s) weight h s i j = 1.

Definition mix (l : mixing) (s : seq Q) : seq Q :=
  mkseq (fun i => renewed l (nth q0 s i)
    [seq \sum_(j < size s) weight h s i j * value h (nth q0 s j) | h <- heads l]) (size s).

Definition above (ls : seq mixing) (s : seq Q) : seq Q := foldl (fun s l => mix l s) s ls.

(* The same stack as one function of the common state. *)
Definition above_one (ls : seq mixing) (q : Q) : Q :=
  foldl (fun q l => renewed l q [seq value h q | h <- heads l]) q ls.

(* Layers of averages over equal states are one function of that state, whatever the scores, masks
   and positions are, and whatever the length is. *)
Theorem averages_of_collapse (ls : seq mixing) n q : (forall l, List.In l ls -> normalised l) ->
  above ls (nseq n q) = nseq n (above_one ls q).
Proof.
elim: ls q => [//|l ls IH] q norm; rewrite /above /= -/(above ls _).
rewrite (_ : mix l _ = nseq n (renewed l q [seq value h q | h <- heads l])).
  by apply: IH => k kls; apply: norm; right.
apply: (@eq_from_nth _ q0); rewrite size_mkseq size_nseq ?size_nseq // => i i_n.
rewrite nth_mkseq ?size_nseq // !nth_nseq i_n; congr renewed.
have: forall h, List.In h (heads l) -> \sum_(j < n) weight h (nseq n q) i j = 1.
  by move=> h hl; have := norm l (or_introl erefl) h (nseq n q) i hl; rewrite size_nseq; apply.
elim: (heads l) => [//|h hs IHh] one /=; congr cons; last by apply: IHh => k kh; apply: one; right.
rewrite -[RHS]mul1r -(one h (or_introl erefl)) mulr_suml.
by apply: eq_bigr => j _; rewrite nth_nseq ltn_ord.
Qed.

(* A head that averages with positive weights and is rounded by thresholds: each threshold is one
   comparison, with weights exp(score) * (value - threshold). *)
Theorem threshold_of_average (A : Type) (s : seq A) (e v : A -> R) theta :
  0 < \sum_(x <- s) e x ->
  (theta <= (\sum_(x <- s) e x * v x) / (\sum_(x <- s) e x))
  = (0 <= \sum_(x <- s) e x * (v x - theta)).
Proof.
move=> pos; rewrite ler_pdivlMr // -subr_ge0 mulr_sumr -sumrB; congr (0 <= _).
by apply: eq_bigr => x _; ring.
Qed.

End Averages.

(* --- L layers are enough for 2 L - 1 blocks, and end in a collapse --- *)

Section Enough.

Variable R : realDomainType.

(* A letter, and the number of its block from the left and from the right, as far as known. *)
Definition mark : Type := bool * nat * nat.

(* The sequence of states that F gives to the letters w with p before and n after them. *)
Fixpoint marks T (F : seq bool -> bool -> seq bool -> T) (p w n : seq bool) : seq T :=
  if w is x :: w' then F p x (w' ++ n) :: marks F (rcons p x) w' n else [::].

Definition known t p x n : mark := (x, minn (blocks (rcons p x)) t, minn (blocks (x :: n)) t).

Definition one_if (b : bool) : R := if b then 1 else 0.

(* Somewhere up to here is another letter, of a block with number t or more; and from here on. *)
Definition onward (t : nat) : layer R mark :=
  Layer [:: Comparison (fun q q' => one_if ((q'.1.1 != q.1.1) && (t <= q'.1.2)%N)) (fun _ _ => 0)
              (fun _ => -1);
            Comparison (fun _ _ => 0) (fun q q' => one_if ((q'.1.1 != q.1.1) && (t <= q'.2)%N))
              (fun _ => -1)]
    (fun q answers => (q.1.1, q.1.2 + nth false answers 0, q.2 + nth false answers 1)%N).

(* A letter c with block number p from the left and s from the right, or more. *)
Definition middle c p s (q : mark) : bool := [&& q.1.1 == c, (p <= q.1.2)%N & (s <= q.2)%N].

(* Somewhere is such a letter, and nowhere one of the other letter. *)
Definition verdict c p s : layer R mark :=
  let somewhere d := Comparison (fun _ q => one_if (middle d p s q))
    (fun _ q => one_if (middle d p s q)) (fun _ => -1) in
  Layer [:: somewhere c; somewhere (~~ c)]
    (fun _ answers => (nth false answers 0 && ~~ nth false answers 1, 0, 0)%N).

Definition block_net L m : seq (layer R mark) :=
  let p := minn m L.+1 in rcons [seq onward t | t <- iota 1 L] (verdict (odd p) p (m.+1 - p)).

Lemma total_one_if (a : pred mark) s : (0 <= total (fun q => one_if (a q)) s - 1) = has a s.
Proof.
rewrite subr_ge0; have nat_sum : total (fun q => one_if (a q)) s = (count a s)%:R.
  elim: s => [|q s IH]; first by rewrite /total big_nil.
  by rewrite total_cons IH /= natrD /one_if; case: (a q).
by rewrite nat_sum has_count ler1n.
Qed.

Lemma total0 s : total (fun _ : mark => 0 : R) s = 0.
Proof. by rewrite /total big1. Qed.

Lemma marks_cat T (F : seq bool -> bool -> seq bool -> T) p w1 w2 n :
  marks F p (w1 ++ w2) n = marks F p w1 (w2 ++ n) ++ marks F (p ++ w1) w2 n.
Proof.
elim: w1 p => [|x w1 IH] p /=; first by rewrite cats0.
by rewrite IH catA cat_rcons.
Qed.

Lemma marks_cons T (F : seq bool -> bool -> seq bool -> T) p x n :
  marks F p (x :: n) [::] = [:: F p x n] ++ marks F (rcons p x) n [::].
Proof. by rewrite /= cats0. Qed.

(* A layer acts on a whole word as it does at each position. *)
Lemma zone_marks (Q : Type) (l : layer R Q) F G :
  (forall p x n, renew l (marks F [::] p (x :: n)) (F p x n) (marks F (rcons p x) n [::]) = G p x n)
  -> forall w, apply l (marks F [::] w [::]) = marks G [::] w [::].
Proof.
move=> step w.
suff gen p n : zone l (marks F [::] p n) (marks F p n [::]) [::] = marks G p n [::].
  exact: (gen [::] w).
elim: n p => [//|x n IH] p /=; rewrite !cats0 step; congr cons.
have -> : rcons (marks F [::] p (x :: n)) (F p x n) = marks F [::] (rcons p x) n.
  by rewrite -cats1 -[in RHS]cats1 marks_cat.
by rewrite IH.
Qed.

Lemma blocks_rcons p y x : blocks (rcons (rcons p y) x) = (blocks (rcons p y) + (y != x))%N.
Proof.
case: p => [|z p]; first by rewrite /= /changes /=; case: (y) x => -[].
have one u v : changes u [:: v] = (u != v) :> nat by rewrite /changes /= addn0.
by rewrite /= -!cats1 !changes_cat last_cat [last _ [:: y]]/= !one addSn.
Qed.

Lemma blocks_cons x y n : blocks (x :: y :: n) = (blocks (y :: n) + (x != y))%N.
Proof. by rewrite /= changes_cons addnC addSn. Qed.

Lemma left_le t p n : all (fun q : mark => q.1.2 <= blocks p)%N (marks (known t) [::] p n).
Proof.
elim/last_ind: p n => [//|p x IH] n; rewrite -cats1 marks_cat all_cat cats1 /= geq_minl !andbT.
apply: sub_all (IH _) => q /leq_trans; apply.
by case/lastP: p {IH} => [//|p y]; rewrite blocks_rcons leq_addr.
Qed.

Lemma left_known t p x n : (0 < t)%N ->
  has (fun q : mark => (q.1.1 != x) && (t <= q.1.2)%N) (marks (known t) [::] p n)
  = (t < blocks (rcons p x))%N.
Proof.
move=> t0; elim/last_ind: p n => [|p y IH] n; first by rewrite /= /changes /=; lia.
rewrite -cats1 marks_cat has_cat cats1 /= orbF leq_min leqnn andbT.
case: (eqVneq y x) => [->|yx] /=.
  by rewrite orbF IH blocks_rcons eqxx addn0.
rewrite blocks_rcons yx addn1 ltnS; case: leqP => le_t; first by rewrite orbT.
rewrite orbF; apply/negbTE/hasPn => q qin; rewrite negb_and -ltnNge orbC.
have /allP/(_ q) := left_le t p ([:: y] ++ n).
move=> /(_ qin) le_q; apply/orP; left; apply: leq_ltn_trans le_q _; apply: leq_ltn_trans le_t.
by case/lastP: p {IH qin} => [//|p z]; rewrite blocks_rcons leq_addr.
Qed.

Lemma right_le t p n : all (fun q : mark => q.2 <= blocks n)%N (marks (known t) p n [::]).
Proof.
elim: n p => [//|x n IH] p; rewrite marks_cons all_cat all_seq1 geq_minl andTb.
apply: sub_all (IH _) => q /leq_trans; apply.
by case: n {IH} => [//|y n]; rewrite blocks_cons leq_addr.
Qed.

Lemma right_known t p x n : (0 < t)%N ->
  has (fun q : mark => (q.1.1 != x) && (t <= q.2)%N) (marks (known t) p n [::])
  = (t < blocks (x :: n))%N.
Proof.
move=> t0; elim: n p => [|y n IH] p; first by rewrite /= /changes /=; lia.
rewrite blocks_cons marks_cons has_cat has_seq1 {1}/known [(_, _).1]/= [(_, _).2]/=.
rewrite leq_min leqnn andbT.
rewrite (eq_sym x); case: (eqVneq y x) => [->|yx]; first by rewrite andFb orFb IH addn0.
rewrite andTb addn1 ltnS; case: leqP => le_t //; rewrite orFb.
apply/negbTE/hasPn => q qin; rewrite negb_and -ltnNge orbC.
have /allP/(_ q) := right_le t (rcons p y) n.
move=> /(_ qin) le_q; apply/orP; left; apply: leq_ltn_trans le_q _; apply: leq_ltn_trans le_t.
by case: n {IH qin} => [//|z n]; rewrite -/(blocks (y :: z :: n)) blocks_cons leq_addr.
Qed.

Lemma onward_known t w : (0 < t)%N ->
  apply (onward t) (marks (known t) [::] w [::]) = marks (known t.+1) [::] w [::].
Proof.
move=> t0; apply: zone_marks => p x n; rewrite /renew /onward /= /holds /=.
rewrite !total0 addr0 add0r !total_one_if has_rcons /= eqxx /= left_known // right_known //.
have step b : (minn b t + (t < b) = minn b t.+1)%N by lia.
by rewrite /known -/(blocks (x :: n)) !step.
Qed.

(* --- which blocks are found --- *)

Lemma has_marks T (F : seq bool -> bool -> seq bool -> T) (a : pred T) w :
  has a (marks F [::] w [::]) <-> exists u x v, w = u ++ x :: v /\ a (F u x v).
Proof.
suff gen p n : has a (marks F p n [::]) <-> exists u x v, n = u ++ x :: v /\ a (F (p ++ u) x v).
  exact (gen [::] w).
elim: n p => [|x n IH] p; first by split=> // -[[|y u]] [x [v []]].
rewrite marks_cons has_cat has_seq1; split.
  case/orP=> [ax|/IH [u [y [v [-> ay]]]]]; first by exists [::], x, n; rewrite cats0.
  by exists (x :: u), y, v; rewrite -(cat_rcons x p u).
case=> -[|z u] [y [v [/= [<- nv] ay]]]; apply/orP; first by left; rewrite nv -[p]cats0.
by right; apply/IH; exists u, y, v; rewrite cat_rcons.
Qed.

Lemma blocks_split u x v : (blocks (u ++ x :: v)).+1 = (blocks (rcons u x) + blocks (x :: v))%N.
Proof.
case: u => [|y u]; first by rewrite /= /changes /= add1n.
by rewrite /= -cats1 !changes_cat /= !changes_cons /= addn0 -addSn !addnS addnA.
Qed.

Lemma last_changes y s : last y s = y (+) odd (changes y s).
Proof.
elim: s y => [|z s IH] y; first by rewrite addbF.
by rewrite /= IH changes_cons oddD oddb; case: (y); case: (z); case: (odd _).
Qed.

Lemma letter_of_block u x v :
  x = head false (u ++ x :: v) (+) ~~ odd (blocks (rcons u x)).
Proof.
case: u => [|y u]; first by case: x.
by have := last_changes y (rcons u x); rewrite last_rcons /= negbK.
Qed.

Lemma block_exists w j : (0 < j)%N -> (j <= blocks w)%N ->
  exists u x v, w = u ++ x :: v /\ blocks (rcons u x) = j.
Proof.
move=> j0; elim/last_ind: w => [|w y IH] jw; first by case: j j0 jw.
case: (leqP j (blocks w)) => [/IH [u [x [v [-> ux]]]]|wj].
  by exists u, x, (rcons v y); rewrite rcons_cat.
exists w, y, [::]; rewrite cats1; split=> //; apply/eqP; rewrite eqn_leq jw andbT.
case/lastP: w {IH} wj jw => [|w z]; first by case: j j0 => [|[]].
by rewrite blocks_rcons => wj _; apply: leq_trans wj; case: (z != y); rewrite ?addn1 ?addn0.
Qed.

Lemma found d p s t w : (0 < p <= t)%N -> (0 < s <= t)%N ->
  has (middle d p s) (marks (known t) [::] w [::]) <->
  exists j, [/\ (p <= j)%N, (j + s <= (blocks w).+1)%N & d = head false w (+) ~~ odd j].
Proof.
move=> /andP[p0 pt] /andP[s0 st]; apply: iff_trans (has_marks _ _ _) _; split.
  case=> u [x [v [-> /and3P[/eqP xd]]]]; rewrite /known [(_, _).1]/= [(_, _).2]/= in xd *.
  rewrite !leq_min => /andP[pu _] /andP[sv _]; exists (blocks (rcons u x)).
  by rewrite blocks_split leq_add2l sv pu -xd -letter_of_block.
case=> j [pj js dj].
have jw : (j <= blocks w)%N.
  by rewrite -ltnS; apply: leq_trans js; rewrite -addn1 leq_add2l.
have [u [x [v [ew bu]]]] := block_exists (leq_trans p0 pj) jw.
exists u, x, v; split=> //; rewrite ew in js dj; rewrite blocks_split bu leq_add2l in js.
by rewrite /middle /known /= !leq_min pt st bu pj -/(blocks (x :: v)) js
  dj -bu -letter_of_block eqxx.
Qed.

Lemma marks_letters w : [seq (x, 1%N, 1%N) | x <- w] = marks (known 1) [::] w [::].
Proof.
suff gen p n : [seq (x, 1%N, 1%N) | x <- n] = marks (known 1) p n [::] by exact: gen.
elim: n p => [//|x n IH] p; rewrite marks_cons map_cons (IH (rcons p x)) /known cat1s.
by rewrite !(minn_idPr _) //; case: p {IH}.
Qed.

Lemma run_cat Q (ls1 ls2 : seq (layer R Q)) s : run (ls1 ++ ls2) s = run ls2 (run ls1 s).
Proof. exact: foldl_cat. Qed.

Lemma onwards L w :
  run [seq onward t | t <- iota 1 L] (marks (known 1) [::] w [::]) = marks (known L.+1) [::] w [::].
Proof.
elim: L => [//|L IH]; rewrite (_ : iota 1 L.+1 = iota 1 L ++ [:: L.+1]); last first.
  by rewrite -{1}(addn1 L) iotaD.
by rewrite map_cat run_cat IH -[LHS]/(apply _ _) onward_known.
Qed.

(* L + 1 layers decide words of m blocks for every m <= 2 L + 1, and all positions of every word
   end in one state. *)
Theorem blocks_within_layers L m w : (0 < m <= (L.*2).+1)%N ->
  run (block_net L m) [seq (x, 1%N, 1%N) | x <- w] = nseq (size w) (block_word m w, 0%N, 0%N).
Proof.
move=> /andP[m0 mL]; rewrite /block_net; set p := minn m L.+1; set s := (m.+1 - p)%N.
have p_ok : (0 < p <= L.+1)%N by rewrite /p; lia.
have s_ok : (0 < s <= L.+1)%N by rewrite /s /p; lia.
have ps : (p + s = m.+1)%N by rewrite /s /p; lia.
rewrite marks_letters -cats1 run_cat onwards -[LHS]/(apply _ _).
pose all_marks := marks (known L.+1) [::] w [::].
have decide : has (middle (odd p) p s) all_marks && ~~ has (middle (~~ odd p) p s) all_marks
    = block_word m w.
  apply/idP/idP.
    case/andP=> /(found _ _ p_ok s_ok) [j [pj js dj]] no.
    have Bm : (m <= blocks w)%N by rewrite -ltnS -ps; apply: leq_trans js; rewrite leq_add2r.
    have mB : blocks w = m.
      apply/eqP; rewrite eqn_leq Bm andbT leqNgt; apply/negP => mB; case/negP: no.
      case E: (head false w); [have nE := erefl (odd p)|]; apply/(found _ _ p_ok s_ok).
        by exists p.+1; rewrite addSn ps /= E negbK; split.
      by exists p; rewrite ps E.
    rewrite /block_word mB eqxx; move: dj.
    have -> : j = p by apply/eqP; rewrite eqn_leq pj andbT -(leq_add2r s) ps -mB.
    by case: head; case: odd.
  case/andP=> /eqP Bm h; apply/andP; split.
    by apply/(found _ _ p_ok s_ok); exists p; rewrite ps Bm h; case: odd.
  apply/negP => /(found _ _ p_ok s_ok) [j [pj js]].
  have -> : j = p by apply/eqP; rewrite eqn_leq pj andbT -(leq_add2r s) ps -Bm.
  by rewrite h; case: odd.
have somewhere d u x v : (0 <= total (fun q => one_if (middle d p s q))
      (rcons (marks (known L.+1) [::] u (x :: v)) (known L.+1 u x v))
    + total (fun q => one_if (middle d p s q))
      (known L.+1 u x v :: marks (known L.+1) (rcons u x) v [::]) - 1)
    = has (middle d p s) (marks (known L.+1) [::] (u ++ x :: v) [::]).
  rewrite -total_cat total_one_if has_cat has_rcons -[(u ++ x :: v)]cat_rcons -cats1 -catA.
  by rewrite !marks_cat !has_cat /= cats0 cats1 !orbF; case: (middle _ _ _ _); rewrite ?orbT.
pose G (u : seq bool) (x : bool) (v : seq bool) : mark :=
  (has (middle (odd p) p s) (marks (known L.+1) [::] (u ++ x :: v) [::])
    && ~~ has (middle (~~ odd p) p s) (marks (known L.+1) [::] (u ++ x :: v) [::]), 0, 0)%N.
rewrite (@zone_marks _ _ _ G); last first.
  by move=> u x v; rewrite /renew /verdict /= /holds /= !somewhere.
suff gen u v : u ++ v = w -> marks G u v [::] = nseq (size v) (block_word m w, 0%N, 0%N).
  exact: gen.
elim: v u => [//|x v IH] u uw; rewrite marks_cons /G uw decide /= -/G; congr cons.
by apply: IH; rewrite cat_rcons.
Qed.

(* The collapse hypothesis of the cap can be met, and the cap is sharp: with m <= 2 L - 1 the same
   net ends in a collapse that decides words of m blocks. *)
Theorem collapse_cap_sharp L m : (0 < m)%N -> (m < (L.+1).*2)%N ->
  exists (ls : seq (layer R mark)) (read : mark -> bool), [/\ size ls = L.+1,
    forall w, collapsed (states (fun x => (x, 1%N, 1%N)) [::] [::] ls w)
    & forall w, read (last (false, 0%N, 0%N) (states (fun x => (x, 1%N, 1%N)) [::] [::] ls w))
      = block_word m w].
Proof.
move=> m0 mL; have mL' : (0 < m <= (L.*2).+1)%N by rewrite m0 -ltnS -doubleS.
have ends w : states (fun x => (x, 1%N, 1%N)) [::] [::] (block_net L m) w
    = nseq (size w) (block_word m w, 0%N, 0%N).
  by rewrite /states /= cats0 blocks_within_layers.
exists (block_net L m), (fun q => q.1.1); split.
- by rewrite /block_net size_rcons size_map size_iota.
- by move=> w; exists (block_word m w, 0%N, 0%N); rewrite ends size_nseq.
move=> w; rewrite ends; case: w => [|x w]; first by rewrite /block_word /= andbF.
by rewrite [nseq _ _]/= [last _ _]/= last_nseq.
Qed.

(* Least number of layers that decide words of exactly m blocks, with masks to both sides. *)
Definition block_layers m : nat := m./2.+1.

(* The bound is for every type of states, and the net that attains it collapses. *)
Theorem block_layers_least m L : (0 < m)%N ->
  (block_layers m <= L)%N <->
  exists (Q : Type) (ls : seq (layer R Q)) (embed : bool -> Q) (read : Q -> bool) (q0 : Q),
    size ls = L /\ forall w, read (last q0 (states embed [::] [::] ls w)) = block_word m w.
Proof.
move=> m0; split=> [mL | [Q [ls [embed [read [q0 [sL right]]]]]]].
  case: L mL => [//|L]; rewrite /block_layers ltnS => mL.
  have mL' : (m < (L.+1).*2)%N by lia.
  have [ls [read [sL _ right]]] := collapse_cap_sharp m0 mL'.
  by exists mark, ls, (fun x => (x, 1%N, 1%N)), read, (false, 0%N, 0%N).
rewrite /block_layers ltnNge; apply/negP => Lm.
have bad : ((size ls).*2 <= m)%N by rewrite sL; lia.
have [w] := blocks_beyond_layers embed [::] [::] read q0 m0 bad.
by rewrite right eqxx.
Qed.

(* The most blocks that are decided above a collapse after L layers. *)
Definition collapse_cap L : nat := (L.*2).-1.

(* Cap and net together: L layers that end in a collapse on every word, and any function of all
   states above them, with start and end tokens or without. *)
Theorem collapse_cap_exact L m : (0 < m)%N ->
  (m <= collapse_cap L)%N <->
  exists (Q : Type) (ls : seq (layer R Q)) (embed : bool -> Q) (pre post : seq Q)
    (rest : seq Q -> bool), [/\ size ls = L,
      forall w, (0 < size w)%N -> collapsed (states embed pre post ls w)
      & forall w, rest (states embed pre post ls w) = block_word m w].
Proof.
move=> m0; split=> [mL | [Q [ls [embed [pre [post [rest [sL one right]]]]]]]].
  case: L mL => [|L] mL; first by rewrite /collapse_cap in mL; lia.
  have mL' : (m < (L.+1).*2)%N by rewrite /collapse_cap in mL; lia.
  have [ls [read [sL one right]]] := collapse_cap_sharp m0 mL'.
  exists mark, ls, (fun x => (x, 1%N, 1%N)), [::], [::], (fun s => read (last (false, 0%N, 0%N) s)).
  by split=> // w _; apply: one.
rewrite leqNgt; apply/negP => Lm.
have bad : ((size ls).*2 <= m)%N by rewrite sL; rewrite /collapse_cap in Lm; lia.
have [w] := collapse_caps_depth rest one m0 bad.
by rewrite right eqxx.
Qed.

End Enough.

(* For an odd number of blocks, 2 k - 1 of them, the least number of layers is k. *)
Lemma block_layers_odd (k : nat) : (0 < k)%N -> block_layers (k.*2).-1 = k.
Proof. by rewrite /block_layers; lia. Qed.

(* The same number on binary numbers, for claims about numbers of blocks. *)
From Coq Require Import NArith.

Definition block_layers_value (m : N) : N := N.succ (N.div2 m).

Lemma block_layers_valueE m : block_layers_value (bin_of_nat m) = bin_of_nat (block_layers m).
Proof.
have of_nat_bin n : bin_of_nat n = N.of_nat n.
  by apply: (can_inj nat_of_binK); rewrite bin_of_natK; lia.
have div2E n : PeanoNat.Nat.div2 n = n./2.
  by elim/ltn_ind: n => [[|[|n]]] //= IH; rewrite IH.
by rewrite /block_layers_value !of_nat_bin -Nnat.Nat2N.inj_div2 -Nnat.Nat2N.inj_succ div2E.
Qed.

Definition collapse_cap_value (L : N) : N := N.pred (N.double L).

Lemma collapse_cap_valueE L : collapse_cap_value (bin_of_nat L) = bin_of_nat (collapse_cap L).
Proof.
have of_nat_bin n : bin_of_nat n = N.of_nat n.
  by apply: (can_inj nat_of_binK); rewrite bin_of_natK; lia.
by rewrite /collapse_cap_value /collapse_cap !of_nat_bin; lia.
Qed.

(* Claim: least_depth/blocks_counted_both_ways. Words of exactly m blocks are decided by L layers
   with masks to both sides exactly from this depth on. *)
Corollary block_layers_checked (R : realDomainType) (m L : nat) : (0 < m)%nat ->
  (nat_of_bin (block_layers_value (bin_of_nat m)) <= L)%nat <->
  exists (Q : Type) (ls : seq (layer R Q)) (embed : bool -> Q) (read : Q -> bool) (q0 : Q),
    size ls = L /\ forall w, read (last q0 (states embed [::] [::] ls w)) = block_word m w.
Proof. by move=> m0; rewrite block_layers_valueE bin_of_natK; apply: block_layers_least. Qed.

(* Claim: least_depth/collapse_caps_depth. Above a collapse after L layers words of m blocks are
   decided, by any function of all states, exactly up to this m. *)
Corollary collapse_cap_checked (R : realDomainType) (L m : nat) : (0 < m)%nat ->
  (m <= nat_of_bin (collapse_cap_value (bin_of_nat L)))%nat <->
  exists (Q : Type) (ls : seq (layer R Q)) (embed : bool -> Q) (pre post : seq Q)
    (rest : seq Q -> bool), [/\ size ls = L,
      forall w, (0 < size w)%nat -> collapsed (states embed pre post ls w)
      & forall w, rest (states embed pre post ls w) = block_word m w].
Proof. by move=> m0; rewrite collapse_cap_valueE bin_of_natK; apply: collapse_cap_exact. Qed.

(* Words of five blocks take three layers; and a collapse after three layers leaves words of up to
   five blocks. *)
Example five_blocks L : (3 <= L)%nat <->
  exists (Q : Type) (ls : seq (layer (int : realDomainType) Q)) (embed : bool -> Q)
    (read : Q -> bool) (q0 : Q),
    size ls = L /\ forall w, read (last q0 (states embed [::] [::] ls w)) = block_word 5%nat w.
Proof. exact: (@block_layers_checked _ 5%nat). Qed.
Example collapse_after_3 m : (0 < m)%nat -> (m <= 5)%nat <->
  exists (Q : Type) (ls : seq (layer (int : realDomainType) Q)) (embed : bool -> Q)
    (pre post : seq Q) (rest : seq Q -> bool), [/\ size ls = 3%nat,
      forall w, (0 < size w)%nat -> collapsed (states embed pre post ls w)
      & forall w, rest (states embed pre post ls w) = block_word m w].
Proof. exact: (@collapse_cap_checked _ 3%nat). Qed.

(* The net of two layers that decides words of three blocks takes some words with four for words
   without, although it collapses; so does anything above it. *)
Example two_layers_not_4 (rest : seq mark -> bool)
    (ls := block_net (int : realDomainType) 1%nat 3%nat) :
  exists w, rest (states (fun x => (x, 1%nat, 1%nat)) [::] [::] ls w) != block_word 4%nat w.
Proof.
apply: collapse_caps_depth => // w _; exists (block_word 3%nat w, 0%nat, 0%nat).
by rewrite /states cat0s cats0 blocks_within_layers // size_nseq.
Qed.

(* Two layers, of one and of two heads that average over all states: the first adds the mean to the
   state, the second replaces it. Then n states 3 become n states 6. *)
Definition whole_mean : attention (rat : realFieldType) rat :=
  Attention (fun s _ _ => (size s)%:R^-1) id.
Definition two_means : seq (mixing (rat : realFieldType) rat) :=
  [:: Mixing [:: whole_mean] (fun q means => q + head 0 means);
      Mixing [:: whole_mean; whole_mean] (fun _ => head 0)].

Lemma two_means_normalised l : List.In l two_means -> normalised l.
Proof.
have whole (s : seq rat) i : (i < size s)%nat -> \sum_(j < size s) weight whole_mean s i j = 1.
  move=> is_; rewrite /= sumr_const card_ord -[RHS](mulVf (x := (size s)%:R)) ?mulr_natr //.
  by rewrite pnatr_eq0 -lt0n (leq_trans _ is_).
by case=> [<-|[<-|//]] h s i /=; [case=> [<-|//] | case=> [<-|[<-|//]]]; apply: whole.
Qed.

Example averages_of_3 n : above 0 two_means (nseq n 3%:R) = nseq n 6%:R.
Proof. by rewrite (averages_of_collapse 0 n 3%:R two_means_normalised); congr nseq; apply/eqP. Qed.

(* Weights 1 and 3 on the values 0 and 1: the mean 3/4 is at least 1/2, and no less than 4/5. *)
Example thresholds (e := fun i : bool => if i then 3%:R else 1 : rat)
    (mean := (\sum_(i <- [:: false; true]) e i * (i : nat)%:R) / \sum_(i <- [:: false; true]) e i) :
  (2%:R^-1 <= mean) && ~~ (4%:R / 5%:R <= mean).
Proof. by rewrite /mean !threshold_of_average ?unlock. Qed.
