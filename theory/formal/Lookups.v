(* Lookups: what a state depends on doubles in a layer of one read, and (H+1)-folds with H reads.

   Three models of theory/hops/hop_lower_bounds.py (`lookup_depth`), least_depth/composition.py and
   least_depth/fixed_reads.py. States, queries and updates are any functions at all: no bound on
   width or precision is used. That attention reads in one of these ways stays informal. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.
From Depthlaw Require Import Hops.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* --- composition of k maps --- *)

Section Composition.

Variable D : finType.

(* Cell (a, c) is the token that says s_a(c); None is the reader, which is given the start x. *)
Definition cell (k : nat) : finType := (('I_k * D)%type : finType).
Definition token k := option (cell k).
Definition maps k := 'I_k -> D -> D.

(* s_k(...s_2(s_1(x))), the maps one after the other. *)
Definition composed k (s : maps k) (x : D) : D := foldl (fun at_ a => s a at_) x (enum 'I_k).

(* Layers of one lookup: each token reads the one token that its own state names. *)
Record lookups (k : nat) := Lookups
  { held : Type;
    of_cell : cell k -> D -> held;
    of_start : D -> held;
    names : nat -> held -> token k;
    update : nat -> held -> held -> held;
    answer : held -> D }.

Fixpoint run k (f : lookups k) (s : maps k) (x : D) (L : nat) (t : token k) : held f :=
  if L is l.+1 then
    let mine := run f s x l t in update l mine (run f s x l (names l mine))
  else if t is Some c then of_cell f c (s c.1 c.2) else of_start f x.

Definition composes k (f : lookups k) (L : nat) :=
  forall s x, answer (run f s x L None) = composed s x.

(* The cells that a state depends on: other maps that agree there give the same state. *)
Fixpoint cells_of k (f : lookups k) s x L (t : token k) : {set cell k} :=
  if L is l.+1 then
    cells_of f s x l t :|: cells_of f s x l (names l (run f s x l t))
  else if t is Some c then [set c] else set0.

Lemma cells_ofP k (f : lookups k) s s' x L t :
  (forall c, c \in cells_of f s x L t -> s' c.1 c.2 = s c.1 c.2) ->
  run f s' x L t = run f s x L t.
Proof.
elim: L t => [|l IH] t /= same.
  by case: t same => // c same; rewrite same ?inE.
have own : run f s' x l t = run f s x l t by apply: IH => c ct; rewrite same // inE ct.
by rewrite own IH // => c ct; rewrite same // inE ct orbT.
Qed.

(* A state depends on at most 2^L cells, that of the reader on at most 2^L - 1. *)
Theorem cells_read k (f : lookups k) s x L t :
  #|cells_of f s x L t| <= 2 ^ L - (t == None).
Proof.
elim: L t => [|l IH] t /=; first by case: t => [c|]; rewrite ?cards1 ?cards0.
apply: leq_trans (leq_card_setU _ _) _; rewrite expnS.
have := IH t; have := IH (names l (run f s x l t)).
have : 0 < 2 ^ l by rewrite expn_gt0.
by case: (t == None); case: (_ == None); lia.
Qed.

Lemma foldl_id (T : eqType) (g : T -> D -> D) (r : seq T) x :
  {in r, forall a y, g a y = y} -> foldl (fun at_ a => g a at_) x r = x.
Proof.
elim: r x => //= a r IH x idg; rewrite idg ?mem_head // IH // => b br.
by apply: idg; rewrite inE br orbT.
Qed.

Lemma composed_one k (a : 'I_k) (x y : D) :
  composed (fun b z => if b == a then y else z) x = y.
Proof.
rewrite /composed; have := mem_enum 'I_k a; have := enum_uniq 'I_k.
elim: (enum 'I_k) x => //= b r IH x /andP [nb ur]; rewrite inE.
have [ab _|_ /= ar] := eqVneq a b; last exact: IH.
by rewrite foldl_id // => c cr z; case: eqP => // ca; move: nb; rewrite -ab -ca cr.
Qed.

(* Claim: least_depth/composition_layers, lower end. Whatever the L layers of one lookup hold,
   they compose at most 2^L - 1 maps of a domain of two or more elements. *)
Theorem composition_at_most k (f : lookups k) L : 1 < #|D| -> composes f L -> k <= 2 ^ L - 1.
Proof.
move=> D2 right; have /card_gt1P [x [y [_ _ xy]]] := D2.
pose id_maps : maps k := fun _ z => z.
pose C := cells_of f id_maps x L None.
rewrite leqNgt; apply/negP => many.
have [a aC] : exists a : 'I_k, a \notin [set c.1 | c in C].
  apply/existsP; rewrite -[X in is_true X]negbK negb_exists; apply/negP => /forallP all_in.
  have : #|[set c.1 | c in C]| = k.
    by rewrite -[RHS]card_ord; apply: eq_card => a; move: (all_in a); rewrite negbK inE.
  have le1 : #|[set c.1 | c in C]| <= #|C| := leq_imset_card _ _.
  have le2 : #|C| <= 2 ^ L - 1 := cells_read f id_maps x L None.
  by move=> e; move: many; rewrite ltnNge -{1}e (leq_trans le1 le2).
have same : run f (fun b z => if b == a then y else z) x L None = run f id_maps x L None.
  apply: cells_ofP => c cC; case: eqP => // ca.
  by move: aC; rewrite -ca imset_f.
move: (right (fun b z => if b == a then y else z) x) (right id_maps x).
rewrite same composed_one => -> /esym; rewrite /composed foldl_id // => /esym /eqP.
by rewrite eq_sym (negbTE xy).
Qed.

(* The program of `looked_up`: a token knows that its path goes on from this argument of this map,
   and goes on by what the cell there knew. *)
Definition doubling k : lookups k := @Lookups k (nat * D)
  (fun c v => ((c.1 : nat).+1, v))
  (fun x => (0, x))
  (fun _ p => if insub p.1 is Some a then Some (a, p.2) else None)
  (fun _ p q => if p.1 < k then q else p)
  snd.

(* The path through the maps, a map a step. *)
Definition follow k (s : maps k) (p : nat * D) : nat * D :=
  if insub p.1 is Some a then (p.1.+1, s a p.2) else p.

Lemma follow_done k (s : maps k) n p : k <= p.1 -> iter n (follow s) p = p.
Proof.
move=> done; elim: n => //= n ->; rewrite /follow insubF //.
by apply/negbTE; rewrite -leqNgt.
Qed.

Lemma doubling_run k (s : maps k) x L :
  (forall c : cell k,
     run (doubling k) s x L (Some c) = iter (2 ^ L) (follow s) (c.1 : nat, c.2))
  /\ run (doubling k) s x L None = iter (2 ^ L - 1) (follow s) (0, x).
Proof.
elim: L => [|l [IHc IHr]].
  split=> // c; rewrite /= /follow insubT /=; first by case: c.
  by move=> lt; congr (_, s _ _); apply: val_inj.
have next p : (if p.1 < k then run (doubling k) s x l
      (if insub p.1 is Some a then Some (a, p.2) else None) else p)
    = iter (2 ^ l) (follow s) p :> nat * D.
  case: ltnP => [lt|done]; last by rewrite follow_done.
  by rewrite insubT IHc /=; case: p lt.
split=> [c|].
  by rewrite [LHS]/= IHc next -iterD addnn -mul2n -expnS.
have p0 : 0 < 2 ^ l by rewrite expn_gt0.
by rewrite [LHS]/= IHr next -iterD expnS; congr iter; lia.
Qed.

Lemma follow_all k (s : maps k) x n : k <= n -> (iter n (follow s) (0, x)).2 = composed s x.
Proof.
move=> /subnK <-; rewrite iterD.
suff go m : m <= k -> iter m (follow s) (0, x)
    = (m, foldl (fun at_ a => s a at_) x (take m (enum 'I_k))).
  by rewrite go // follow_done //= take_oversize // size_enum_ord.
elim: m => [|m IH] mk; first by rewrite take0.
rewrite iterS IH ?(ltnW mk) // /follow insubT /=.
rewrite (take_nth (Ordinal mk)) ?size_enum_ord // -cats1 foldl_cat /=; congr (_, s _ _).
by apply: val_inj; rewrite /= nth_enum_ord.
Qed.

(* Claim: least_depth/composition_layers, upper end. L layers compose any k <= 2^L - 1 maps. *)
Theorem composition_at_least k L : k <= 2 ^ L - 1 -> composes (doubling k) L.
Proof. by move=> kL s x; rewrite (doubling_run s x L).2; apply: follow_all. Qed.

(* Claim: least_depth/composition_layers. 2^L - 1 is the largest number of maps that L layers of
   one lookup compose. *)
Theorem composition_layers k L : 1 < #|D| ->
  (exists f : lookups k, composes f L) <-> k <= 2 ^ L - 1.
Proof.
move=> D2; split=> [[f]|kL]; first exact: composition_at_most.
by exists (doubling k); apply: composition_at_least.
Qed.

(* The least depth is ceil(log2 (k + 1)). *)
Theorem composition_depth k L : 1 < #|D| ->
  (exists f : lookups k, composes f L) <-> up_log 2 k.+1 <= L.
Proof.
move=> D2; rewrite composition_layers //; have p0 : 0 < 2 ^ L by rewrite expn_gt0.
split=> [kL|lt]; first by apply: up_log_min => //; lia.
have := up_logP k.+1 (isT : 1 < 2); have : 2 ^ up_log 2 k.+1 <= 2 ^ L by rewrite leq_exp2l.
lia.
Qed.

End Composition.

(* Three maps of two elements: two layers compose them, one does not; four maps need a third. *)
Example compose_three : exists f : lookups (bool : finType) 3, composes f 2.
Proof. by apply/composition_layers; rewrite ?card_bool. Qed.
Example compose_three_not_1 (f : lookups (bool : finType) 3) : ~ composes f 1.
Proof. by move/composition_at_most; rewrite card_bool => /(_ isT). Qed.
Example compose_four_not_2 (f : lookups (bool : finType) 4) : ~ composes f 2.
Proof. by move/composition_at_most; rewrite card_bool => /(_ isT). Qed.

Definition composition_value (L : N) : N := N.pred (N.pow 2 L).

Lemma composition_valueE L : composition_value (bin_of_nat L) = bin_of_nat (2 ^ L - 1).
Proof.
by rewrite /composition_value !of_nat_bin -(of_nat_exp 2) -Nnat.Nat2N.inj_pred subn1.
Qed.

(* --- reads at fixed positions --- *)

Section FixedReads.

Variables (G : Type) (e : G) (mul : Monoid.law e).

(* In each layer each position joins its own state with those of H positions, which are fixed
   beforehand; another function in every layer and at every position is allowed. *)
Record reader (N H : nat) := Reader
  { content : Type;
    letter : 'I_N -> G -> content;
    reads : nat -> 'I_N -> 'I_H -> 'I_N;
    join : nat -> 'I_N -> content -> {ffun 'I_H -> content} -> content;
    value : content -> G }.

Fixpoint state_at N H (f : reader N H) (g : 'I_N -> G) (L : nat) (i : 'I_N) : content f :=
  if L is l.+1 then
    join l i (state_at f g l i) [ffun h => state_at f g l (reads f l i h)]
  else letter f i (g i).

(* The product of all N = n + 1 elements, in order, at the last position. *)
Definition multiplies n H (f : reader n.+1 H) (L : nat) :=
  forall g, value (state_at f g L ord_max) = \big[mul/e]_(i < n.+1) g i.

(* The letters that a state depends on. *)
Fixpoint letters_of N H (f : reader N H) (L : nat) (i : 'I_N) : {set 'I_N} :=
  if L is l.+1 then letters_of f l i :|: \bigcup_h letters_of f l (reads f l i h) else [set i].

Lemma letters_ofP N H (f : reader N H) g g' L i :
  {in letters_of f L i, g' =1 g} -> state_at f g' L i = state_at f g L i.
Proof.
elim: L i => [|l IH] i /= same; first by rewrite same ?inE.
have own : state_at f g' l i = state_at f g l i by apply: IH => j ji; rewrite same // inE ji.
rewrite own; congr join; apply/ffunP => h; rewrite !ffunE; apply: IH => j jh.
by rewrite same // inE; apply/orP; right; apply/bigcupP; exists h.
Qed.

Lemma card_bigcup_leq (I T : finType) (F : I -> {set T}) m :
  (forall i, #|F i| <= m) -> #|\bigcup_i F i| <= #|I| * m.
Proof.
move=> Fm; apply: (@leq_trans (\sum_(i in I) #|F i|)).
  elim/big_ind2: _ => [|n1 S1 n2 S2 le1 le2|//]; first by rewrite cards0.
  by apply: leq_trans (leq_card_setU _ _) _; apply: leq_add.
by rewrite -sum_nat_const; apply: leq_sum.
Qed.

(* After L layers a state depends on at most (H+1)^L letters. *)
Theorem letters_read N H (f : reader N H) L i : #|letters_of f L i| <= H.+1 ^ L.
Proof.
elim: L i => [|l IH] i /=; first by rewrite cards1.
apply: leq_trans (leq_card_setU _ _) _; rewrite expnS mulSn; apply: leq_add => //.
by have := card_bigcup_leq (fun h => IH (reads f l i h)); rewrite card_ord.
Qed.

Lemma big_one N (i : 'I_N) a : \big[mul/e]_(j < N) (if j == i then a else e) = a.
Proof. by rewrite -big_mkcond /= big_pred1_eq. Qed.

(* Claim: least_depth/fixed_reads, lower end, in every group (and monoid) with two elements. *)
Theorem fixed_reads_at_most n H (f : reader n.+1 H) L (a : G) :
  a <> e -> multiplies f L -> n.+1 <= H.+1 ^ L.
Proof.
move=> ae right; apply: leq_trans (letters_read f L ord_max).
rewrite leqNgt -[X in _ < X]card_ord; apply/negP => few.
have /subsetPn [i _ iC] : ~~ ([set: 'I_n.+1] \subset letters_of f L ord_max).
  by apply: contraL few => /subset_leq_card; rewrite cardsT -leqNgt.
apply: ae; rewrite -{1}(big_one i a).
rewrite -[LHS](right (fun j => if j == i then a else e)).
rewrite (@letters_ofP _ _ f (fun _ => e)) ?right ?big1 // => j jC.
by case: eqP => // ji; rewrite -ji jC in iC.
Qed.

(* The blocks of `block_reads`: head h of layer l, from 0, reads the position (h + 1) (H + 1)^l
   before, if there is one; all that was read is multiplied in order. *)
Lemma sub_lt N (i : 'I_N) d : i - d < N.
Proof. exact: leq_ltn_trans (leq_subr _ _) (ltn_ord i). Qed.

Definition blocks (N H : nat) : reader N H := @Reader N H G
  (fun _ a => a)
  (fun l i h => Ordinal (sub_lt i (h.+1 * H.+1 ^ l)))
  (fun l i own u => mul (\big[mul/e]_(h < H)
     (if (rev_ord h).+1 * H.+1 ^ l <= i then u (rev_ord h) else e)) own)
  id.

Lemma blocks_join (P : nat -> G) (g : nat -> G) (B i H : nat) : 0 < B ->
  (forall j, j <= i -> P j = \big[mul/e]_(j.+1 - B <= m < j.+1) g m) ->
  mul (\big[mul/e]_(h < H)
     (if (H - h.+1).+1 * B <= i then P (i - (H - h.+1).+1 * B) else e)) (P i)
  = \big[mul/e]_(i.+1 - H.+1 * B <= m < i.+1) g m.
Proof.
move=> B0 PE; elim: H => [|H IH]; first by rewrite big_ord0 Monoid.mul1m mul1n PE.
rewrite big_ord_recl -Monoid.mulmA /= subSS subn0 IH.
rewrite (mulSn H.+1); set C := H.+1 * B; case: ifP => [Ci|/negbT]; last first.
  rewrite -ltnNge Monoid.mul1m => iC.
  by have [-> ->] : i.+1 - C = 0 /\ i.+1 - (B + C) = 0 by lia.
rewrite PE ?leq_subr // -subSn //.
have -> : i.+1 - C - B = i.+1 - (B + C) by lia.
by rewrite -big_cat_nat //; lia.
Qed.

Definition extend N (g : 'I_N -> G) (j : nat) : G := if insub j is Some i then g i else e.

Lemma blocks_state N H g L (i : 'I_N) :
  state_at (blocks N H) g L i
  = \big[mul/e]_(i.+1 - H.+1 ^ L <= m < i.+1) extend g m.
Proof.
elim: L i => [|l IH] i.
  by rewrite subSS subn0 big_nat1 /extend valK.
pose P j := \big[mul/e]_(j.+1 - H.+1 ^ l <= m < j.+1) extend g m.
rewrite expnS -(@blocks_join P) ?expn_gt0 //= IH; congr (mul _ _).
by apply: eq_bigr => h _; case: ifP => // _; rewrite ffunE IH.
Qed.

(* Claim: least_depth/fixed_reads, upper end: blocks multiply any N <= (H+1)^L elements. *)
Theorem fixed_reads_at_least n H L : n.+1 <= H.+1 ^ L -> multiplies (blocks n.+1 H) L.
Proof.
move=> nL g; rewrite /= blocks_state.
have -> : (ord_max : 'I_n.+1).+1 - H.+1 ^ L = 0 by apply/eqP; rewrite subn_eq0.
by rewrite big_mkord; apply: eq_bigr => i _; rewrite /extend valK.
Qed.

(* Claim: least_depth/fixed_reads. The product of N = n + 1 elements takes L layers of H fixed
   reads if and only if N <= (H+1)^L. *)
Theorem fixed_reads n H L (a : G) : a <> e ->
  (exists f : reader n.+1 H, multiplies f L) <-> n.+1 <= H.+1 ^ L.
Proof.
move=> ae; split=> [[f]|nL]; first exact: (fixed_reads_at_most ae).
by exists (blocks n.+1 H); apply: fixed_reads_at_least.
Qed.

(* The least number of layers is the ceiling of log N to the base H + 1. *)
Theorem fixed_reads_depth n H L (a : G) : a <> e -> 0 < H ->
  (exists f : reader n.+1 H, multiplies f L) <-> up_log H.+1 n.+1 <= L.
Proof.
move=> ae H0; rewrite (fixed_reads _ _ _ ae); split=> [|le]; first exact: up_log_min.
by apply: leq_trans (up_logP n.+1 (H0 : 1 < H.+1)) _; rewrite leq_exp2l.
Qed.

End FixedReads.

(* Ten bits are added up mod 2 by two heads in three layers, and in no fewer. *)
Definition addbM : Monoid.law false := addb.
Example ten_bits L :
  (exists f : reader bool 10 2, multiplies addbM f L) <-> 3 <= L.
Proof. exact: (@fixed_reads_depth bool false addbM 9 2 L true). Qed.

(* The least L with N <= (H+1)^L, for H >= 1, by trying: N has enough binary digits. *)
Fixpoint least_exponent (fuel : nat) (base tokens power L : N) : N :=
  if (tokens <=? power)%num then L
  else if fuel is f.+1 then least_exponent f base tokens (N.mul power base) (N.succ L) else L.

Definition fixed_reads_value (heads tokens : N) : N :=
  least_exponent (N.size_nat tokens) (N.succ heads) tokens 1 0.

Lemma least_exponentE fuel b n L : 1 < b -> n <= 2 ^ fuel * b ^ L -> L <= up_log b n ->
  least_exponent fuel (N.of_nat b) (N.of_nat n) (N.of_nat (b ^ L)) (N.of_nat L)
  = N.of_nat (up_log b n).
Proof.
move=> b1; elim: fuel L => [|fuel IH] L nL lo /=; case: N.leb_spec => [le|gt].
- by congr N.of_nat; apply/eqP; rewrite eqn_leq lo up_log_min //; lia.
- by move: nL; rewrite expn0 mul1n; lia.
- by congr N.of_nat; apply/eqP; rewrite eqn_leq lo up_log_min //; lia.
rewrite -Nnat.Nat2N.inj_mul -Nnat.Nat2N.inj_succ multE -expnSr.
apply: IH.
  apply: leq_trans nL _; rewrite !expnS (mulnC 2) -mulnA leq_mul2l.
  by rewrite leq_mul2r b1 !orbT.
rewrite ltnNge; apply/negP => le.
have := up_logP n b1; have : b ^ up_log b n <= b ^ L by rewrite leq_exp2l.
lia.
Qed.

Lemma size_natP n : n < 2 ^ N.size_nat (N.of_nat n).
Proof.
have pos p : nat_of_pos p < 2 ^ Pos.size_nat p.
  by elim: p => [p IH|p IH|] //=; rewrite expnS ?NatTrec.doubleE; lia.
by rewrite -of_nat_bin -{1}[n]bin_of_natK; case: (bin_of_nat n).
Qed.

Lemma fixed_reads_valueE H n : 0 < H ->
  fixed_reads_value (bin_of_nat H) (bin_of_nat n) = bin_of_nat (up_log H.+1 n).
Proof.
move=> H0; rewrite /fixed_reads_value !of_nat_bin -Nnat.Nat2N.inj_succ.
apply: (@least_exponentE _ H.+1 n 0) => //.
by rewrite expn0 muln1 ltnW ?size_natP.
Qed.

Example fixed_reads_values :
  [:: fixed_reads_value 1 1; fixed_reads_value 1 5; fixed_reads_value 3 4;
      fixed_reads_value 2 10]%num = [:: 0; 3; 1; 3]%num.
Proof. by vm_compute. Qed.

(* --- hop_k by pointers that all tokens share --- *)

(* What every token holds: pointers find^p, p in the first list, symbols hop_s, s in the second.
   Under the causal mask two layers fetch the previous token and find^1 with the symbol there;
   under the strict mask one layer finds the position of the last earlier copy, hence find^1. *)
Definition held_lists := (seq nat * seq nat)%type.
Definition first_layers (strict : bool) : nat := 2 - strict.
Definition first_held (strict : bool) : held_lists :=
  ([:: 0; 1], if strict then [:: 0] else [:: 0; 1]).

(* A lookup at find^p adds all that the token found there holds. *)
Definition look (p : nat) (held : held_lists) : held_lists :=
  (held.1 ++ [seq p + q | q <- held.1], held.2 ++ [seq p + s | s <- held.2]).

Inductive reach (strict : bool) : nat -> held_lists -> Prop :=
  | First : reach strict (first_layers strict) (first_held strict)
  | Look L held p :
      reach strict L held -> p \in held.1 -> 0 < p -> reach strict L.+1 (look p held).

(* A token at find^p(i) that holds its own find^q and hop_s tells find^(p+q) and hop_(p+s) of i.
   The lists are counted on their own; this is what makes the counting sound. *)
Theorem look_sound (T : eqType) (X : seq T) p q s i :
  pointer X q (pointer X p i) = pointer X (p + q) i
  /\ hop X s (pointer X p i) = hop X (p + s) i.
Proof. by rewrite addnC find_add addnC -hop_add addnC. Qed.

Lemma reach_bound strict L held : reach strict L held ->
  exists2 t, L = first_layers strict + t &
    {in held.1, forall p, p <= 2 ^ t} /\ {in held.2, forall s, s + strict <= 2 ^ t}.
Proof.
elim=> {L held} [|L held p _ [t -> [Pt St]] pP p0].
  exists 0; first by rewrite addn0.
  by split=> x; case: strict; rewrite !inE /=; lia.
exists t.+1; rewrite ?addnS // expnS mul2n -addnn; have := Pt p pP => pt.
split=> x; rewrite mem_cat => /orP [].
- by move/Pt; lia.
- by case/mapP=> q /Pt qt ->; lia.
- by move/St; lia.
by case/mapP=> q /St qt ->; lia.
Qed.

Lemma reach_all strict t :
  exists2 held, reach strict (first_layers strict + t) held &
    (forall p, p <= 2 ^ t -> p \in held.1) /\ (forall s, s + strict <= 2 ^ t -> s \in held.2).
Proof.
elim: t => [|t [held rt [Pt St]]].
  exists (first_held strict); first by rewrite addn0; constructor.
  by split=> [[|[|p]]|[|[|s]]]; case: strict.
have p0 : 0 < 2 ^ t by rewrite expn_gt0.
exists (look (2 ^ t) held); first by rewrite addnS; constructor; rewrite ?Pt.
split=> x; rewrite expnS mem_cat => xt; apply/orP.
  have [le|gt] := leqP x (2 ^ t); [by left; apply: Pt | right].
  by apply/mapP; exists (x - 2 ^ t); [apply: Pt|]; lia.
have [le|gt] := leqP (x + strict) (2 ^ t); [by left; apply: St | right].
by apply/mapP; exists (x - 2 ^ t); [apply: St|]; have := leq_b1 strict; lia.
Qed.

(* Claim: hops/one_lookup_per_layer. Among all choices of one pointer a layer that all tokens look
   up, after first layers that are given, tokens hold hop_k at depth L if and only if
   L >= ceil(log2 (k + strict)) + 2 - strict: with the causal mask ceil(log2 k) + 2. *)
Theorem one_lookup_per_layer strict k L : 0 < k ->
  (exists2 held, reach strict L held & k \in held.2)
  <-> up_log 2 (k + strict) + 2 - strict <= L.
Proof.
move=> k0; have -> : up_log 2 (k + strict) + 2 - strict
    = first_layers strict + up_log 2 (k + strict) by rewrite /first_layers; case: strict; lia.
split=> [[held /reach_bound [t -> [_ St]] kS]|le].
  by rewrite leq_add2l; apply: up_log_min => //; apply: St.
have -> : L = first_layers strict + (L - first_layers strict) by lia.
have [held rL [_ all_s]] := reach_all strict (L - first_layers strict).
exists held => //; apply: all_s; apply: leq_trans (@up_logP 2 (k + strict) isT) _.
by rewrite leq_exp2l //; lia.
Qed.

(* With a strict mask that is floor(log2 k) + 2. *)
Theorem one_lookup_strict k L : 0 < k ->
  (exists2 held, reach true L held & k \in held.2) <-> trunc_log 2 k + 2 <= L.
Proof.
move=> k0; rewrite one_lookup_per_layer // addn1 trunc_log_up_log //.
have : 0 < up_log 2 k.+1 by rewrite up_log_gt0.
by case: (up_log 2 k.+1) => //= t _; rewrite addn2 addn2 subn1.
Qed.

(* 3 hops: four layers with the causal mask, three with the strict one. *)
Example three_hops_masks :
  [seq up_log 2 (3 + (strict : bool)) + 2 - strict | strict <- [:: false; true]] = [:: 4; 3].
Proof. by vm_compute. Qed.

Definition lookup_layers_value (k strict : N) : N :=
  N.sub (N.add (N.log2_up (N.add k strict)) 2%num) strict.

Lemma lookup_layers_valueE (k strict : nat) :
  lookup_layers_value (bin_of_nat k) (bin_of_nat strict)
  = bin_of_nat (up_log 2 (k + strict) + 2 - strict).
Proof.
by rewrite /lookup_layers_value !of_nat_bin -Nnat.Nat2N.inj_add log2_upE
   -(Nnat.Nat2N.inj_add _ 2) -Nnat.Nat2N.inj_sub.
Qed.

(* Claim: least_depth/composition_layers. L layers of one lookup compose so many maps, no more. *)
Corollary composition_layers_checked (D : finType) k L : 1 < #|D| ->
  (exists f : lookups D k, composes f L) <-> k <= nat_of_bin (composition_value (bin_of_nat L)).
Proof. by rewrite composition_valueE bin_of_natK; apply: composition_layers. Qed.

(* Claim: least_depth/fixed_reads. H heads at fixed positions multiply n + 1 elements exactly
   from this depth on. *)
Corollary fixed_reads_checked (G : Type) (e : G) (mul : Monoid.law e) n H L (a : G) :
  a <> e -> 0 < H ->
  (exists f : reader G n.+1 H, multiplies mul f L)
  <-> nat_of_bin (fixed_reads_value (bin_of_nat H) (bin_of_nat n.+1)) <= L.
Proof.
by move=> ae H0; rewrite fixed_reads_valueE // bin_of_natK; apply: fixed_reads_depth ae H0.
Qed.

(* Claim: hops/one_lookup_per_layer. Hop k can be held exactly from this depth on. *)
Corollary one_lookup_per_layer_checked (strict : bool) k L : 0 < k ->
  (exists2 held, reach strict L held & k \in held.2)
  <-> nat_of_bin (lookup_layers_value (bin_of_nat k) (bin_of_nat strict)) <= L.
Proof. by rewrite lookup_layers_valueE bin_of_natK; apply: one_lookup_per_layer. Qed.

(* Five maps: three layers compose them, two do not. *)
Example compose_five L : (exists f : lookups (bool : finType) 5, composes f L) <-> 3 <= L.
Proof. by apply: composition_depth; rewrite card_bool. Qed.

(* Three hops with the strict mask: three layers. *)
Example three_hops_strict L : (exists2 held, reach true L held & 3 \in held.2) <-> 3 <= L.
Proof. exact: (@one_lookup_strict 3 L isT). Qed.

(* Two layers: three maps of two elements, and no four. *)
Example compose_in_two_layers k :
  (exists f : lookups (bool : finType) k, composes f 2) <-> k <= 3.
Proof. by apply: (@composition_layers_checked _ k 2); rewrite card_bool. Qed.

(* Ten words of one letter, strings under concatenation, which does not commute: three layers. *)
Example ten_words L :
  (exists f : reader (seq bool) 10 2, multiplies (@cat bool : Monoid.law _) f L) <-> 3 <= L.
Proof. exact: (@fixed_reads_checked _ _ (@cat bool : Monoid.law _) 9 2 L [:: true]). Qed.

(* Three hops: four layers with the causal mask, three with the strict one. *)
Example three_hops_checked strict L :
  (exists2 held, reach strict L held & 3 \in held.2) <-> (if strict then 3 else 4) <= L.
Proof. by rewrite one_lookup_per_layer_checked //; case: strict. Qed.
