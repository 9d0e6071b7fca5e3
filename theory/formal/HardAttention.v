(* Hard attention on words: exact numbers of layers for languages, at all sizes.

   The objects are those of theory/formal_languages/temporal_logic.py (`attend`, `kinds`): layers of
   unique hard attention under a future mask, without positions, over words of any length. Of the
   earlier positions a head attends to the rightmost (or leftmost) one of greatest score. The nets are
   transformers (Bridges.hard_transformer). *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From mathcomp Require Import zify.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory.

(* Ties between greatest scores, and whether a position is hidden from itself. *)
Variant side := leftmost | rightmost.
Variant mask := strict | non_strict.

(* --- nets --- *)

Section Nets.

Variables (disp : Order.disp_t) (S : orderType disp).

(* Whether a later key of score s' is preferred to an earlier one of score s. *)
Definition later_wins (tie : side) (s s' : S) : bool :=
  if tie is rightmost then (s <= s')%O else (s < s')%O.

Definition better X tie (score : X -> S) (best : option X) (x : X) : option X :=
  if best is Some b then if later_wins tie (score b) (score x) then Some x else Some b else Some x.

(* What a head attends to among the states it sees, in the order of positions; None if there are
   none. *)
Definition attend X tie (score : X -> S) (xs : seq X) : option X :=
  foldl (better tie score) None xs.

(* States are of any type, finite or not; each layer has its own scores, which depend on the state
   of the query and that of the key, and its own map of the state and of all that its heads attend
   to. A head yields the whole state that it attends to; so a least score below which nothing
   counts (0 in `attend` of temporal_logic.py) is a matter of that map. The letter None stands at
   the extra last position. *)
Record net (A : Type) := Net
  { state : Type;
    heads : finType;
    embed : option A -> state;
    score : nat -> heads -> state -> state -> S;
    join : nat -> state -> {ffun heads -> option state} -> state;
    accept : state -> bool }.

Definition letter A (w : seq A) (i : nat) : option A := nth None (map Some w) i.

(* The positions that position i sees. *)
Definition seen (m : mask) (i : nat) : seq nat := iota 0 (if m is strict then i else i.+1).

(* The state of position i of the word w after L layers. *)
Fixpoint hold tie m A (f : net A) (w : seq A) (L i : nat) : state f :=
  if L is l.+1 then
    let own := hold tie m f w l i in
    join l own [ffun h => attend tie (score l h own) [seq hold tie m f w l j | j <- seen m i]]
  else embed f (letter w i).

(* A word is read at the extra last position. *)
Definition accepts tie A (f : net A) L w : bool := accept (hold tie strict f w L (size w)).

Definition recognises tie A (f : net A) L (language : pred (seq A)) :=
  forall w, accepts tie f L w = language w.

End Nets.

Definition finite_states disp (S : orderType disp) A (f : net S A) :=
  exists Q : finType, Finite.sort Q = state f.

(* L is the least number of layers for a language: a net of finitely many states, H heads a layer
   and scores 0 and 1 does it with L layers; no net of fewer layers does, whatever its states, its
   scores in an ordered set, and its number of heads. *)
Definition least_layers tie H A (language : pred (seq A)) (L : nat) :=
  (exists f : net (bool : orderType _) A,
     [/\ finite_states f, #|heads f| <= H & recognises tie f L language]) /\
  (forall disp (S : orderType disp) (f : net S A) l, recognises tie f l language -> L <= l).

(* --- what a head attends to --- *)

Section Attend.

Variables (disp : Order.disp_t) (S : orderType disp) (X : Type) (tie : side) (score : X -> S).
Implicit Types (xs ys zs : seq X).

Definition both (a b : option X) : option X := if b is Some x then better tie score a x else a.

Lemma later_wins_trans (s1 s2 s3 : S) :
  later_wins tie s1 s2 -> later_wins tie s2 s3 -> later_wins tie s1 s3.
Proof. by case: tie; [apply: lt_trans | apply: le_trans]. Qed.

Lemma later_loses_trans (s1 s2 s3 : S) :
  ~~ later_wins tie s1 s2 -> ~~ later_wins tie s2 s3 -> ~~ later_wins tie s1 s3.
Proof.
case: tie; rewrite /= -?leNgt -?ltNge => le12 le23; first exact: le_trans le12.
exact: lt_trans le12.
Qed.

Lemma both_assoc a b c : both (both a b) c = both a (both b c).
Proof.
case: c => [c|] //; case: b => [b|] //; case: a => [a|]; last by rewrite /= /better; case: ifP.
rewrite /= /better; case ab: (later_wins _ (score a)); case bc: (later_wins _ (score b)).
- by rewrite /= (later_wins_trans ab bc).
- by rewrite /= ab.
- by [].
- by rewrite /= ab (negbTE (later_loses_trans (negbT ab) (negbT bc))).
Qed.

Lemma both_id a : both a a = a.
Proof. by case: a => [a|] //=; rewrite /better; case: ifP. Qed.

Lemma attend_from b xs : foldl (better tie score) b xs = both b (attend tie score xs).
Proof.
rewrite /attend; elim/last_ind: xs => [|xs x IH]; first by case: b.
rewrite !foldl_rcons IH.
by rewrite -[better _ _ _ _]/(both (both b _) (Some x)) both_assoc.
Qed.

Lemma attend_cat xs ys :
  attend tie score (xs ++ ys) = both (attend tie score xs) (attend tie score ys).
Proof. by rewrite {1}/attend foldl_cat attend_from. Qed.

Lemma attend_rcons xs x : attend tie score (rcons xs x) = better tie score (attend tie score xs) x.
Proof. by rewrite /attend foldl_rcons. Qed.

(* What is seen twice in a row might as well be seen once. *)
Lemma attend_twice xs ys zs :
  attend tie score (xs ++ ys ++ ys ++ zs) = attend tie score (xs ++ ys ++ zs).
Proof. by rewrite !attend_cat -(both_assoc _ _ (attend tie score zs)) both_id. Qed.

End Attend.

(* Leftmost: more of what was seen before changes nothing. *)
Lemma attend_seen disp (S : orderType disp) (I : eqType) X (score : X -> S) (g : I -> X) js ks :
  (forall k, k \in ks -> exists2 j, j \in js & g k = g j) ->
  attend leftmost score (map g (js ++ ks)) = attend leftmost score (map g js).
Proof.
elim/last_ind: ks => [|ks k IH] sub; first by rewrite cats0.
rewrite -rcons_cat map_rcons attend_rcons IH => [|i iks]; last first.
  by apply: sub; rewrite mem_rcons inE iks orbT.
have [j jjs ->] : exists2 j, j \in js & g k = g j by apply: sub; rewrite mem_rcons inE eqxx.
case: (path.splitPr jjs) => js1 js2; rewrite map_cat attend_cat /=.
have top b : exists2 c, foldl (better leftmost score) (Some b) (map g js2) = Some c
    & (score b <= score c)%O.
  elim/last_ind: (js2) => [|js' j' [c IHc bc]]; first by exists b.
  rewrite map_rcons foldl_rcons IHc /=; case: ltP => [cj|_]; last by exists c.
  by exists (g j'); rewrite ?(le_trans bc (ltW cj)).
rewrite /attend /=; have [c -> jc] := top (g j).
rewrite /both; case: (foldl _ _ _) => [b|] /=.
  by case: (ltP (score b)) => bc /=; rewrite ltNge ?jc // (le_trans jc bc).
by rewrite ltNge jc.
Qed.

(* Scores 0 and 1: whether anything of score 1 is seen, and which is the last. *)
Definition keep X (p : pred X) (o : option X) : option X :=
  if o is Some x then if p x then Some x else None else None.

Lemma attend_any X tie (p : pred X) xs : isSome (keep p (attend tie (p : X -> bool) xs)) = has p xs.
Proof.
elim/last_ind: xs => [|xs x IH] //; rewrite attend_rcons has_rcons -IH.
case: (attend _ _ _) => [b|] /=; last by case: (p x).
by case: tie {IH}; rewrite ?leEbool ?ltEbool; case pb: (p b); case px: (p x); rewrite /= ?pb ?px.
Qed.

Lemma attend_last X (p : pred X) xs x :
  keep p (attend rightmost (p : X -> bool) (rcons xs x))
  = if p x then Some x else keep p (attend rightmost (p : X -> bool) xs).
Proof.
rewrite attend_rcons; case: (attend _ _ _) => [b|] //=.
by rewrite leEbool; case pb: (p b); case px: (p x); rewrite /= ?pb ?px.
Qed.

(* --- what no net can tell apart --- *)

Section Alike.

Variables (disp : Order.disp_t) (S : orderType disp) (A : Type) (f : net S A).

Lemma hold_prefix tie m w w' L i :
  (forall j, j <= i -> letter w j = letter w' j) -> hold tie m f w L i = hold tie m f w' L i.
Proof.
elim: L i => [|l IH] i same /=; first by rewrite same.
rewrite IH //; congr join; apply/ffunP => h; rewrite !ffunE; congr attend.
apply/eq_in_map => j; rewrite mem_iota => ji; apply: IH => j' j'j; apply: same.
by move: ji; case: (m) => ji; lia.
Qed.

Lemma letter_catl (w v v' : seq A) i : i < size w -> letter (w ++ v) i = letter (w ++ v') i.
Proof. by move=> iw; rewrite /letter !map_cat !nth_cat size_map iw. Qed.

Lemma letter_catr (u v : seq A) i : letter (u ++ v) (size u + i) = letter v i.
Proof. by rewrite /letter map_cat nth_cat size_map ltnNge leq_addr /= addKn. Qed.

Lemma letter_size (w : seq A) : letter w (size w) = None.
Proof. by rewrite /letter nth_default ?size_map. Qed.

Lemma flatten_nseqS n (x : seq A) : flatten (nseq n.+1 x) = flatten (nseq n x) ++ x.
Proof. by elim: n => [|n IH] /=; rewrite ?cats0 // -catA -IH. Qed.

Lemma size_power n (x : seq A) : size (flatten (nseq n x)) = n * size x.
Proof. by elim: n => //= n IH; rewrite size_cat IH. Qed.

Lemma powers_held tie u (x v : seq A) n t i : t <= n -> size u + t * size x <= i ->
  hold tie strict f (u ++ flatten (nseq n x) ++ v) t i
  = hold tie strict f (u ++ flatten (nseq n.+1 x) ++ v) t (i + size x).
Proof.
set W := u ++ _; set W' := u ++ _; set p := size x.
have here j t' : j < size u + n * p -> hold tie strict f W t' j = hold tie strict f W' t' j.
  move=> jn; apply: hold_prefix => k kj; rewrite /W /W' flatten_nseqS -catA !(catA u).
  by apply: letter_catl; rewrite size_cat size_power; lia.
have shifted j : size u <= j -> letter W j = letter W' (j + p).
  move=> uj; rewrite -(subnKC uj) /W /W' /= -addnA !letter_catr -catA addnC.
  by rewrite letter_catr.
elim: t i => [|t IH] i tn ui /=; first by rewrite shifted //; lia.
rewrite -IH; [|lia|lia]; congr join; apply/ffunP => h; rewrite !ffunE /seen.
set a := size u + t * p; have [d ->] : exists d, i = a + p + d by exists (i - (a + p)); lia.
rewrite (_ : a + p + d + p = a + (p + (p + d))); last by lia.
rewrite -(addnA a) !(iotaD 0 a) (iotaD _ p (p + d)) !map_cat !add0n.
have same (js : seq nat) : (forall j, j \in js -> j < a + p) ->
    [seq hold tie strict f W' t j | j <- js] = [seq hold tie strict f W t j | j <- js].
  by move=> small; apply/eq_in_map => j /small ja; rewrite here //; nia.
rewrite (same (iota 0 a)) ?(same (iota a p)); try by move=> j; rewrite mem_iota; lia.
have -> : [seq hold tie strict f W' t j | j <- iota (a + p) (p + d)]
          = [seq hold tie strict f W t j | j <- iota a (p + d)].
  rewrite (addnC a) iotaDl -map_comp; apply/eq_in_map => j; rewrite mem_iota => ja /=.
  by rewrite IH; [rewrite addnC | lia | lia].
by rewrite !(iotaD a p d) map_cat attend_twice.
Qed.

(* Whatever the net, n layers give a word with a factor n times in a row the output that they give
   it with the factor once more. Hence languages of nets are aperiodic, and powers count layers. *)
Theorem powers_alike tie u (x v : seq A) n L : L <= n ->
  accepts tie f L (u ++ flatten (nseq n x) ++ v)
  = accepts tie f L (u ++ flatten (nseq n.+1 x) ++ v).
Proof.
move=> Ln; rewrite /accepts (powers_held _ _ Ln); last first.
  by rewrite !size_cat size_power; nia.
by congr (accept (hold _ _ _ _ _ _)); rewrite !size_cat !size_power; lia.
Qed.

End Alike.

(* --- helpers for nets --- *)

Lemma iota_rcons n : iota 0 n.+1 = rcons (iota 0 n) n.
Proof. by rewrite -addn1 iotaD cats1. Qed.

Lemma map_iotaS X (g : nat -> X) n : map g (iota 0 n.+1) = rcons (map g (iota 0 n)) (g n).
Proof. by rewrite iota_rcons map_rcons. Qed.

Lemma letterP A (w : seq A) i : i < size w ->
  exists2 x, letter w i = Some x & take i.+1 w = rcons (take i w) x.
Proof.
case: w => // x0 w iw; exists (nth x0 (x0 :: w) i); last exact: take_nth.
by rewrite /letter (nth_map x0).
Qed.

Lemma drop_letter A (w : seq A) i : i < size w ->
  exists2 x, letter w i = Some x & drop i w = x :: drop i.+1 w.
Proof.
case: w => // x0 w iw; exists (nth x0 (x0 :: w) i); last exact: drop_nth.
by rewrite /letter (nth_map x0).
Qed.

Lemma letter_rcons A (w : seq A) x i :
  letter (rcons w x) i = if i == size w then Some x else letter w i.
Proof.
rewrite /letter map_rcons nth_rcons size_map; case: ltngtP => // iw.
by rewrite nth_default // size_map ltnW.
Qed.

Lemma take_rcons A (w : seq A) x i : i <= size w -> take i (rcons w x) = take i w.
Proof. by move=> iw; rewrite -cats1 takel_cat. Qed.

Lemma nseq_rcons A n (x : A) : nseq n.+1 x = rcons (nseq n x) x.
Proof. by elim: n => //= n <-. Qed.

(* --- k letters at least --- *)

Section AtLeast.

Variables (A : finType).

Definition at_least k (w : seq A) : bool := k <= size w.

(* Whether something was before, asked again and again, but not more than k times. *)
Definition once_net k : net (bool : orderType _) A :=
  @Net _ _ A (bool : finType) (unit : finType) (fun _ => true) (fun _ _ _ flag => flag)
    (fun l own u => if l < k then isSome (keep id (u tt)) else own) id.

Lemma once_held tie k w t i : hold tie strict (once_net k) w t i = (minn t k <= i).
Proof.
elim: t i => [|t IH] i; first by rewrite min0n.
rewrite /= ffunE; case: ltnP => tk; last by rewrite IH; lia.
rewrite attend_any has_map; apply/hasP/idP => [[j]|ti]; first by rewrite mem_iota /= IH; lia.
by exists t; rewrite ?mem_iota /= ?IH; lia.
Qed.

Lemma once_recognises tie k : recognises tie (once_net k) k (at_least k).
Proof. by move=> w; rewrite /accepts once_held minnn. Qed.

Lemma at_least_lower tie k (a : A) disp (S : orderType disp) (f : net S A) l :
  recognises tie f l (at_least k) -> k <= l.
Proof.
move=> right; rewrite leqNgt; apply/negP => lk; have lk1 : l <= k.-1 by lia.
have := powers_alike f tie [::] [:: a] [::] lk1.
by rewrite !right /at_least /= cats0 size_power muln1; lia.
Qed.

Lemma nseq_power n (a : A) : flatten (nseq n [:: a]) = nseq n a.
Proof. by elim: n => //= n ->. Qed.

Lemma equal_letters tie disp (S : orderType disp) (f : net S A) k n m (a : A) :
  k <= n -> k <= m -> accepts tie f k (nseq n a) = accepts tie f k (nseq m a).
Proof.
have go d : accepts tie f k (nseq (k + d) a) = accepts tie f k (nseq k a).
  elim: d => [|d IH]; first by rewrite addn0.
  have kd : k <= k + d by lia.
  have := powers_alike f tie [::] [:: a] [::] kd.
  by rewrite !cat0s !cats0 !nseq_power addnS IH => <-.
by move=> /subnKC <- /subnKC <-; rewrite !go.
Qed.

(* Claim: formal_languages/strict_hierarchy, for rightmost and for leftmost heads. The words of at
   least k letters take exactly k layers, one head each. Of two words of equal letters all nets of k
   layers agree exactly if both have k letters, or as many. So no number of layers decides whether
   a length is even. *)
Theorem strict_hierarchy tie k (a : A) :
  [/\ least_layers tie 1 (at_least k) k,
      forall n m, (forall disp (S : orderType disp) (f : net S A),
          accepts tie f k (nseq n a) = accepts tie f k (nseq m a)) <-> minn n k = minn m k
    & forall disp (S : orderType disp) (f : net S A) L,
        ~ recognises tie f L (fun w => ~~ odd (size w))].
Proof.
split.
- split; last by move=> disp S f l; apply: (at_least_lower a).
  exists (once_net k); split; [by exists (bool : finType) | by rewrite card_unit |].
  exact: once_recognises.
- move=> n m; split=> [same|].
    have far : forall t, t <= k -> (t <= n) = (t <= m).
      move=> t tk; have := same _ _ (once_net t).
      by rewrite /accepts !once_held !size_nseq (minn_idPr tk).
    have := far (minn n k) (geq_minr _ _); have := far (minn m k) (geq_minr _ _); lia.
  have [kn|nk] := leqP k n; last by move=> nm disp S f; have -> : m = n by lia.
  by move=> nm disp S f; apply: equal_letters; lia.
move=> disp S f L right; have := @equal_letters tie _ _ f L L L.+1 a (leqnn _) (leqnSn _).
by rewrite !right !size_nseq /=; case: odd.
Qed.

End AtLeast.

(* --- k letters in a row --- *)

Section Stair.

Variables (A : finType) (a c : A).
Hypothesis ac : a != c.

(* Once every c is deleted, the word contains k letters a in a row. *)
Definition stair k (w : seq A) : bool := infix (nseq k a) [seq x <- w | x != c].

(* How many letters a end the word, c's left out. *)
Definition row (w : seq A) : nat :=
  foldl (fun r x => if x == c then r else if x == a then r.+1 else 0) 0 w.

Lemma row_rcons w x :
  row (rcons w x) = if x == c then row w else if x == a then (row w).+1 else 0.
Proof. by rewrite /row foldl_rcons. Qed.

Lemma row_suffix k w : (k <= row w) = suffix (nseq k a) [seq x <- w | x != c].
Proof.
elim/last_ind: w k => [|w x IH] k; first by case: k => [|k]; rewrite ?suffix0s ?suffixs0.
rewrite row_rcons filter_rcons; case: eqP => //= _.
case: k => [|k]; first by rewrite suffix0s.
by rewrite nseq_rcons suffix_rcons -IH eq_sym; case: eqP.
Qed.

Lemma stair_row k w : stair k.+1 w
  = has (fun i => (letter w i == Some a) && (k <= row (take i w))) (iota 0 (size w)).
Proof.
elim/last_ind: w => [|w x IH] //.
rewrite size_rcons iota_rcons has_rcons.
have <- : stair k.+1 w = has (fun i => (letter (rcons w x) i == Some a)
    && (k <= row (take i (rcons w x)))) (iota 0 (size w)).
  rewrite IH; apply: eq_in_has => i; rewrite mem_iota => /andP [_ iw].
  by rewrite letter_rcons take_rcons ?(ltnW iw) // ltn_eqF.
rewrite letter_rcons eqxx take_rcons // take_size /stair filter_rcons.
case: eqP => [->|/eqP xc] /=; first by rewrite (inj_eq Some_inj) eq_sym (negbTE ac).
rewrite -[a :: _]/(nseq k.+1 a) infix_rconsl nseq_rcons suffix_rcons -row_suffix.
by rewrite (inj_eq Some_inj) (eq_sym x).
Qed.

(* Layer 1 to k - 1: the last letter before, c's left out, ends a row of t letters a. Layer k: such
   a row of k letters ended somewhere. *)
Definition stair_net k : net (bool : orderType _) A :=
  @Net _ _ A ((option A * bool)%type : finType) (unit : finType)
    (fun x => (x, x == Some a))
    (fun l _ _ key => if l < k then key.1 != Some c else key.2)
    (fun l own u => (own.1, if l < k
       then (own.1 == Some a)
            && (if keep (fun key => key.1 != Some c) (u tt) is Some key then key.2 else false)
       else isSome (keep snd (u tt))))
    snd.

Lemma stair_held k w t i : t <= k -> i <= size w ->
  hold rightmost strict (stair_net k) w t i
  = (letter w i, (letter w i == Some a) && (t <= row (take i w))).
Proof.
elim: t i => [|t IH] i tk iw /=; first by rewrite andbT.
rewrite ffunE IH ?(ltnW tk) // tk /=; congr (_, _ && _).
elim: i iw => [|i IHi] iw; first by rewrite take0.
have [x xi ->] := letterP iw; rewrite map_iotaS (attend_last (fun key => key.1 != Some c)).
rewrite IH ?(ltnW tk) ?(ltnW iw) //= xi row_rcons (inj_eq Some_inj).
case: (x == c) => /=; first by rewrite IHi ?(ltnW iw).
by rewrite (inj_eq Some_inj); case: (x == a).
Qed.

(* Claim: least_depth/stair_layers. Exactly k layers of rightmost hard attention, over every finite
   alphabet with two letters a and c. *)
Theorem stair_layers k : least_layers rightmost 1 (stair k) k.
Proof.
split.
  case: k => [|k].
    exists (once_net A 0); split; [by exists (bool : finType) | by rewrite card_unit |].
    by move=> w; rewrite /accepts once_held /stair infix0s.
  exists (stair_net k); split; [by exists ((option A * bool)%type : finType) | by rewrite card_unit |].
  move=> w; rewrite /accepts /= ffunE ltnn (attend_any _ snd) has_map stair_row.
  by apply: eq_in_has => i; rewrite mem_iota => /andP [_ iw] /=; rewrite stair_held ?(ltnW iw).
move=> disp S f l right; rewrite leqNgt; apply/negP => lk; have lk1 : l <= k.-1 by lia.
have := powers_alike f rightmost [::] [:: a] [::] lk1.
have only n : [seq x <- nseq n a | x != c] = nseq n a.
  by apply/all_filterP; rewrite all_nseq ac orbT.
rewrite !right !cat0s !cats0 !nseq_power /stair !only prednK ?infix_refl; last by lia.
move=> /size_infix; rewrite !size_nseq; lia.
Qed.

End Stair.

(* --- nested brackets --- *)

Section Dyck.

Variables (T : finType) (t0 : T).

(* An opening bracket is (true, type), a closing one (false, type). *)
Local Notation bracket := (bool * T)%type.

(* Brackets match by a stack, which is never higher than D. *)
Fixpoint nested D (stack : seq T) (w : seq bracket) : bool :=
  match w, stack with
  | [::], _ => nilp stack
  | (true, x) :: w', _ => (size stack < D) && nested D (x :: stack) w'
  | (false, x) :: w', y :: stack' => (x == y) && nested D stack' w'
  | (false, _) :: _, [::] => false
  end.

Definition dyck D w : bool := nested D [::] w.

Lemma nested_open D n s w : n + size s <= D ->
  nested D s (nseq n (true, t0) ++ w) = nested D (nseq n t0 ++ s) w.
Proof.
elim: n s => [|n IH] s ns //=; rewrite IH /=; last by lia.
have -> : size s < D by lia.
by congr nested; elim: (n) => //= m ->.
Qed.

Lemma nested_close D n : nested D (nseq n t0) (nseq n (false, t0)).
Proof. by elim: n => //= n ->; rewrite eqxx. Qed.

Lemma dyck_allowed D : dyck D (nseq D (true, t0) ++ nseq D (false, t0)).
Proof. by rewrite /dyck nested_open ?addn0 // cats0 nested_close. Qed.

Lemma dyck_too_many D w : ~~ dyck D (nseq D.+1 (true, t0) ++ w).
Proof. by rewrite /dyck nseq_rcons -cats1 -catA nested_open ?addn0 //= cats0 size_nseq ltnn. Qed.

(* An event of a level is a push of a type, a pop of a type, or none. *)
Local Notation event := (option bracket).

(* A cell after an event: what was pushed, or nothing after a pop. *)
Definition after (held : option T) (e : event) : option T :=
  if e is Some (push, x) then if push then Some x else None else held.
(* What the next level must do: push what lay here, or pop where nothing did. *)
Definition handed (held : option T) (e : event) : event :=
  match e, held with
  | Some (true, _), Some y => Some (true, y)
  | Some (false, x), None => Some (false, x)
  | _, _ => None
  end.
Definition mismatch (held : option T) (e : event) : bool :=
  match e, held with Some (false, x), Some y => x != y | _, _ => false end.

(* A position holds the event of its level, whether a pop here did not match, and whether a cell
   below was full. D layers, one a cell; the last one asks whether anything ever went wrong. *)
Definition stack_net D : net (bool : orderType _) bracket :=
  @Net _ _ bracket ((event * bool * bool)%type : finType) (unit : finType)
    (fun x => (x, false, false))
    (fun l _ _ key => if l < D then isSome key.1.1 else isSome key.1.1 || key.1.2)
    (fun l own u => if l < D then
       let held := if keep (fun key => isSome key.1.1) (u tt) is Some key
                   then after None key.1.1 else None in
       (handed held own.1.1, own.1.2 || mismatch held own.1.1, own.2 || isSome held)
     else
       (None, isSome (keep (fun key => isSome key.1.1 || key.1.2) (u tt)), own.2))
    (fun s => ~~ s.1.2 && ~~ s.2).

(* The cells one after the other: what all hold after an event, what the last hands on, and whether
   anything is wrong. *)
Fixpoint cells_after (cells : seq (option T)) (e : event) : seq (option T) :=
  if cells is held :: cells' then after held e :: cells_after cells' (handed held e) else [::].
Fixpoint cells_wrong (cells : seq (option T)) (e : event) : bool :=
  if cells is held :: cells' then mismatch held e || cells_wrong cells' (handed held e)
  else isSome e.

Lemma cells_none cells : cells_after cells None = cells /\ cells_wrong cells None = false.
Proof. by elim: cells => //= held cells [-> ->]. Qed.

Lemma cells_push cells x :
  if size (pmap id cells) < size cells then
    pmap id (cells_after cells (Some (true, x))) = x :: pmap id cells
    /\ cells_wrong cells (Some (true, x)) = false
  else cells_wrong cells (Some (true, x)).
Proof.
elim: cells x => [|[y|] cells IH] x //=.
  by have := IH y; rewrite ltnS; case: ifP => // _ [-> ->].
have [-> ->] := cells_none cells.
by rewrite ltnS size_pmap count_size.
Qed.

Lemma cells_pop cells x :
  if pmap id cells is y :: stack then
    cells_wrong cells (Some (false, x)) = (x != y)
    /\ pmap id (cells_after cells (Some (false, x))) = stack
  else is_true (cells_wrong cells (Some (false, x))).
Proof.
elim: cells x => [|[y|] cells IH] x //=; last exact: IH.
by have [-> ->] := cells_none cells; rewrite orbF.
Qed.

Lemma cells_nil (cells : seq (option T)) : nilp (pmap id cells) = ~~ has isSome cells.
Proof. by elim: cells => [|[y|] cells IH]. Qed.

Lemma size_cells_after cells e : size (cells_after cells e) = size cells.
Proof. by elim: cells e => //= held cells IH e; rewrite IH. Qed.

(* All letters in turn. *)
Fixpoint cells_run (cells : seq (option T)) (w : seq bracket) : bool :=
  if w is x :: w' then ~~ cells_wrong cells (Some x) && cells_run (cells_after cells (Some x)) w'
  else nilp (pmap id cells).

Lemma cells_are_a_stack cells w : cells_run cells w = nested (size cells) (pmap id cells) w.
Proof.
elim: w cells => [|[[] x] w IH] cells //=; rewrite IH size_cells_after.
  by have := cells_push cells x; case: ifP => _ => [[-> ->]|->].
by have := cells_pop cells x; case: (pmap id cells) => [->|y s [-> ->]] //; rewrite negbK.
Qed.

Section Levels.

Variables (D : nat) (w : seq bracket).

(* The event of level t at position i, and what the cell of level t holds there. *)
Fixpoint event_at t i : event :=
  if t is t'.+1 then
    handed (foldl (fun held j => after held (event_at t' j)) None (iota 0 i)) (event_at t' i)
  else letter w i.
Definition cell_at t i : option T :=
  foldl (fun held j => after held (event_at t j)) None (iota 0 i).

Lemma cell_atS t i : cell_at t i.+1 = after (cell_at t i) (event_at t i).
Proof. by rewrite /cell_at iota_rcons foldl_rcons. Qed.

Definition wrong_at n i : bool := has (fun t => mismatch (cell_at t i) (event_at t i)) (iota 0 n).
Definition full_at n i : bool := has (fun t => isSome (cell_at t i)) (iota 0 n).

Lemma stack_held t i : t <= D ->
  hold rightmost strict (stack_net D) w t i = (event_at t i, wrong_at t i, full_at t i).
Proof.
elim: t i => [|t IH] i tD //=; rewrite ffunE !IH ?(ltnW tD) // tD /=.
have -> : (if keep (fun key : event * bool * bool => isSome key.1.1)
  (attend rightmost (fun key : event * bool * bool => isSome key.1.1)
     [seq hold rightmost strict (stack_net D) w t j | j <- iota 0 i])
  is Some key then after None key.1.1 else None) = cell_at t i.
  elim: i => // i IHi.
  rewrite map_iotaS (attend_last (fun key : event * bool * bool => isSome key.1.1)) cell_atS -IHi.
  by rewrite IH ?(ltnW tD) //=; case: (event_at t i).
by rewrite /wrong_at /full_at !iota_rcons !has_rcons !(orbC (has _ _)).
Qed.

Lemma cells_at_after n t i :
  [seq cell_at t' i.+1 | t' <- iota t n]
  = cells_after [seq cell_at t' i | t' <- iota t n] (event_at t i).
Proof. by elim: n t => //= n IH t; rewrite cell_atS IH. Qed.

Lemma cells_at_wrong n t i :
  has (fun t' => mismatch (cell_at t' i) (event_at t' i)) (iota t n) || isSome (event_at (t + n) i)
  = cells_wrong [seq cell_at t' i | t' <- iota t n] (event_at t i).
Proof. by elim: n t => [|n IH] t /=; rewrite ?addn0 // -orbA -addSnnS IH. Qed.

Definition bad_at i : bool := wrong_at D i || isSome (event_at D i).

Lemma cells_run_at n i : i + n = size w ->
  cells_run [seq cell_at t i | t <- iota 0 D] (drop i w)
  = ~~ has bad_at (iota i n) && ~~ full_at D (size w).
Proof.
elim: n i => [|n IH] i iw.
  rewrite -iw addn0 drop_oversize /=; last by lia.
  by rewrite cells_nil has_map.
have iw' : i < size w by lia.
have [x xi ->] := drop_letter iw'.
rewrite [LHS]/=; have <- : event_at 0 i = Some x by [].
rewrite -(cells_at_after D 0 i) -(cells_at_wrong D 0 i) IH; last by lia.
rewrite -[has _ (iota i _)]/(bad_at i || has bad_at (iota i.+1 n)) {2}/bad_at /wrong_at.
by rewrite !negb_or -!andbA.
Qed.

End Levels.

Lemma stack_recognises D : recognises rightmost (stack_net D) D.+1 (dyck D).
Proof.
move=> w; rewrite /accepts [hold _ _ _ _ _ _]/= ffunE ltnn.
have := @cells_run_at D w (size w) 0 (add0n _); rewrite drop0 cells_are_a_stack size_map size_iota.
have -> : pmap id [seq cell_at w t 0 | t <- iota 0 D] = [::].
  by elim: (iota 0 D) => //= t ts ->.
rewrite -/(dyck D w) => ->.
rewrite (attend_any _ (fun key : event * bool * bool => isSome key.1.1 || key.1.2)) has_map.
rewrite stack_held //=; congr (~~ _ && _).
by apply: eq_has => i /=; rewrite stack_held //= orbC.
Qed.

(* Claim: least_depth/dyck_layers. Brackets of any types nested to depth D take exactly D + 1 layers
   of rightmost hard attention: with one head a layer so many suffice, with any number of heads no
   fewer do. *)
Theorem dyck_layers D : least_layers rightmost 1 (dyck D) D.+1.
Proof.
split.
  exists (stack_net D); split; last exact: stack_recognises.
    by exists ((event * bool * bool)%type : finType).
  by rewrite card_unit.
move=> disp S f l right; rewrite leqNgt; apply/negP => lD.
have := powers_alike f rightmost [::] [:: (true, t0)] (nseq D (false, t0)) (lD : l <= D).
by rewrite !right !cat0s !nseq_power dyck_allowed (negbTE (dyck_too_many _ _)).
Qed.

End Dyck.

Lemma holdS disp (S : orderType disp) A (f : net S A) tie m w l i :
  hold tie m f w l.+1 i = join l (hold tie m f w l i) [ffun h =>
    attend tie (score l h (hold tie m f w l i)) [seq hold tie m f w l j | j <- seen m i]].
Proof. by []. Qed.

(* --- a mask that is not strict --- *)

Section NonStrict.

Variables (disp : Order.disp_t) (S : orderType disp) (A : Type) (f : net S A).

Lemma doubled_held tie u x (v : seq A) t i : size u <= i ->
  hold tie non_strict f (u ++ x :: v) t i = hold tie non_strict f (u ++ x :: x :: v) t i.+1.
Proof.
set W := u ++ _; set W' := u ++ _.
have here j t' : j <= size u -> hold tie non_strict f W t' j = hold tie non_strict f W' t' j.
  move=> ju; apply: hold_prefix => k kj; rewrite /W /W' -(cat1s x v) -(cat1s x (x :: v)) !catA.
  by apply: letter_catl; rewrite size_cat /=; lia.
have shifted j : size u <= j -> letter W j = letter W' j.+1.
  by move=> uj; rewrite -(subnKC uj) -addnS /W /W' !letter_catr.
elim: t i => [|t IH] i ui; first by rewrite /= shifted.
rewrite !holdS -IH //; congr join; apply/ffunP => h; rewrite !ffunE /seen.
have [d ->] : exists d, i.+1 = size u + d.+1 by exists (i - size u); lia.
rewrite -addnS !iotaD !map_cat !add0n.
have -> : [seq hold tie non_strict f W' t j | j <- iota 0 (size u)]
          = [seq hold tie non_strict f W t j | j <- iota 0 (size u)].
  by apply/eq_in_map => j; rewrite mem_iota => ju; rewrite here //; lia.
have -> : [seq hold tie non_strict f W' t j | j <- iota (size u) d.+2]
  = hold tie non_strict f W t (size u)
    :: [seq hold tie non_strict f W t j | j <- iota (size u) d.+1].
  rewrite [iota _ d.+2]/= map_cons -here //; congr (_ :: _).
  rewrite -[_ :: iota _ d]/(iota (size u).+1 d.+1) -(add1n (size u)) iotaDl -map_comp.
  by apply/eq_in_map => j; rewrite mem_iota => /andP [uj _] /=; rewrite IH.
by rewrite /= -(cat1s _ [seq _ | _ <- _]) -(cat1s _ (_ :: _)) attend_twice.
Qed.

(* Where a position may attend to itself, no net of any number of layers, read at the last position,
   tells a word from the same word with a letter doubled. *)
Theorem doubled_letter tie u x (v : seq A) L :
  hold tie non_strict f (u ++ x :: v) L (size (u ++ x :: v)).-1
  = hold tie non_strict f (u ++ x :: x :: v) L (size (u ++ x :: x :: v)).-1.
Proof. by rewrite !size_cat /= !addnS /= -addnS addnS; apply: doubled_held; lia. Qed.

End NonStrict.

(* (ab)*, a being true. *)
Fixpoint alternating (w : seq bool) : bool :=
  match w with [::] => true | [:: a, b & w'] => a && ~~ b && alternating w' | _ => false end.

(* So (ab)* is out of reach. *)
Theorem non_strict_alternating tie disp (S : orderType disp) (f : net S bool) L :
  ~ (forall w, ~~ nilp w -> accept (hold tie non_strict f w L (size w).-1) = alternating w).
Proof.
move=> right; have := @doubled_letter _ S _ f tie [:: true] false [::] L.
move=> /(congr1 (@accept _ _ _ f)); rewrite !right //.
Qed.

(* Layer 1: the letter before. Layer 2: whether somewhere a letter was not to be there. *)
Definition bad_after (before own : option bool) : bool :=
  if own is Some x then if before is Some y then x == y else ~~ x
  else before == Some true.
Definition alternating_net : net (bool : orderType _) bool :=
  @Net _ _ bool ((option bool * bool)%type : finType) (unit : finType)
    (fun x => (x, false))
    (fun l _ _ key => if l is 0 then true else key.2)
    (fun l own u => if l is 0
       then (own.1, bad_after (if u tt is Some key then key.1 else None) own.1)
       else (own.1, own.2 || isSome (keep snd (u tt))))
    (fun s => ~~ s.2).

Lemma attend_const X (xs : seq X) x : attend rightmost (fun _ => true) (rcons xs x) = Some x.
Proof. by rewrite attend_rcons /better; case: attend. Qed.

Definition before A (w : seq A) (i : nat) : option A := if i is j.+1 then letter w j else None.

Lemma alternating_held w i : i <= size w ->
  hold rightmost strict alternating_net w 1 i = (letter w i, bad_after (before w i) (letter w i)).
Proof.
case: i => [|i] iw; first by rewrite /= ffunE.
by rewrite holdS /seen map_iotaS /= ffunE attend_const.
Qed.

Lemma alternating_bad w : alternating w
  = ~~ has (fun i => bad_after (before w i) (letter w i)) (iota 0 (size w).+1).
Proof.
pose go := fix go (y : option bool) (w : seq bool) :=
  if w is x :: w' then bad_after y (Some x) || go (Some x) w' else bad_after y None.
have E w' : forall y, has (fun i => bad_after (if i is j.+1 then letter w' j else y) (letter w' i))
    (iota 0 (size w').+1) = go y w'.
  elim: w' => [|x w' IH] y; first by rewrite /= orbF.
  have -> : iota 0 (size (x :: w')).+1 = 0 :: map (addn 1) (iota 0 (size w').+1).
    by rewrite -iotaDl.
  rewrite -[RHS]/(_ || go (Some x) w') -(IH (Some x)); move: (iota 0 _) => js /=.
  by rewrite has_map; congr (_ || _); apply: eq_has => -[|i].
rewrite (E w None) {E}.
have [n] := ubnP (size w); elim: n w => // n IH [|a [|b w]] //=; first by case: a.
move=> wn; have {IH} := IH w; rewrite ltnS in wn; move=> -> ; last by lia.
by case: a; case: b => //=; case: (w) => // -[].
Qed.

(* Two layers of rightmost hard attention under a strict mask, one head each, recognise it. *)
Theorem strict_alternating : recognises rightmost alternating_net 2 alternating.
Proof.
move=> w; rewrite /accepts holdS alternating_held // /seen; set xs := map _ _.
rewrite /= ffunE (attend_any _ snd) has_map alternating_bad.
rewrite iota_rcons has_rcons; congr (~~ (_ || _)).
apply: eq_in_has => i; rewrite mem_iota => /andP [_ iw].
by rewrite -[LHS]/((hold rightmost strict alternating_net w 1 i).2) alternating_held ?(ltnW iw).
Qed.

(* --- blocks --- *)

Section Blocks.

Implicit Types (w v : seq bool) (x y : bool).

(* How often the letter changes in x w; a is true, b is false. *)
Fixpoint changes x w : nat := if w is y :: w' then (x != y) + changes y w' else 0.

(* a+ b+ a+ ... with k blocks. *)
Definition blocks k w : bool := if w is x :: w' then x && (k == (changes x w').+1) else k == 0.

(* The longest alternation x, ~~ x, x, ... that is a subsequence. *)
Fixpoint alternation x w : nat :=
  if w is y :: w' then if y == x then (alternation (~~ x) w').+1 else alternation x w' else 0.

Lemma alternation_cons x y w : alternation x (y :: w) = changes y w + (x == y).
Proof.
elim: w x y => [|z w IH] x y; first by rewrite /= eq_sym; case: eqP.
rewrite [LHS]/= -/(alternation _ (z :: w)) -/(alternation x (z :: w)) !IH /=.
by case: x; case: y; case: z; rewrite /=; lia.
Qed.

Lemma alternation_rcons x w y :
  alternation x (rcons w y) = alternation x w + (y == x (+) odd (alternation x w)).
Proof.
elim: w x => [|z w IH] x /=; first by rewrite addbF; case: eqP.
by case: ifP => _ //; rewrite IH addSn /=; case: x; case: odd.
Qed.

Lemma blocks_alternation k w : 0 < k ->
  blocks k w = (k <= alternation true w) && ~~ (k <= alternation false w).
Proof.
case: w => [|x w] k0; first by case: k k0.
by rewrite !alternation_cons; case: x => /=; lia.
Qed.

(* One letter more of the alternation. *)
Lemma alternation_step x t w i : i <= size w ->
  (t < alternation x (take i w))
  = has (fun j => (letter w j == Some (x (+) odd t)) && (t <= alternation x (take j w))) (iota 0 i).
Proof.
elim: i => [|i IH] iw; first by rewrite take0.
have [y yi ->] := letterP iw; rewrite iota_rcons has_rcons yi -IH ?(ltnW iw) //.
rewrite alternation_rcons (inj_eq Some_inj).
have [<-|] := eqVneq t (alternation x (take i w)); first by rewrite leqnn ltnn; case: eqP; lia.
by move=> ne; case: (y == _); case: (y == _); lia.
Qed.

(* Leftmost (or rightmost) heads, a letter of both alternations in each layer. *)
Definition side_of (s : option bool * (bool * bool)) x : bool := if x then s.2.1 else s.2.2.
Definition once_blocks : net (bool : orderType _) bool :=
  @Net _ _ bool ((option bool * (bool * bool))%type : finType) (bool : finType)
    (fun a => (a, (true, true)))
    (fun l x _ key => (key.1 == Some (x (+) odd l)) && side_of key x)
    (fun l own u => let found x :=
       isSome (keep (fun key => (key.1 == Some (x (+) odd l)) && side_of key x) (u x)) in
       (own.1, (found true, found false)))
    (fun s => s.2.1 && ~~ s.2.2).

Lemma once_blocks_held tie w t i : i <= size w ->
  hold tie strict once_blocks w t i
  = (letter w i, (t <= alternation true (take i w), t <= alternation false (take i w))).
Proof.
elim: t i => [|t IH] i iw //; rewrite holdS IH // /seen; set xs := map _ _.
rewrite /= !ffunE.
have E x : isSome (keep (fun key => (key.1 == Some (x (+) odd t)) && side_of key x)
      (attend tie (fun key => (key.1 == Some (x (+) odd t)) && side_of key x) xs))
    = (t < alternation x (take i w)).
  rewrite (attend_any _ (fun key => (key.1 == Some (x (+) odd t)) && side_of key x)).
  rewrite alternation_step // has_map; apply: eq_in_has => j; rewrite mem_iota => /andP [_ ji].
  by rewrite /preim /= IH; [case: x | lia].
by rewrite (E true) (E false).
Qed.

Lemma once_blocks_recognises tie k : 0 < k -> recognises tie once_blocks k (blocks k).
Proof.
by move=> k0 w; rewrite /accepts once_blocks_held // take_size blocks_alternation.
Qed.

End Blocks.

(* --- leftmost heads: what they can not tell apart --- *)

Section ArchLetters.

Variables (A : eqType) (u x x' : seq A) (vs : seq (seq A)).
Hypothesis all_a : forall v, v \in vs -> forall a, a \in v.

Let from t := size (u ++ flatten (take t vs)).

Lemma arches_letters t : t < size vs -> [/\ from t <= from t.+1,
    from t.+1 <= size (u ++ flatten vs ++ x),
    forall j, j < from t.+1 -> letter (u ++ flatten vs ++ x) j = letter (u ++ flatten vs ++ x') j
  & forall a, exists2 j, from t <= j < from t.+1 & letter (u ++ flatten vs ++ x) j = Some a].
Proof.
move=> tvs; have cut s (y : seq A) : u ++ flatten vs ++ y
    = (u ++ flatten (take s vs)) ++ (flatten (drop s vs) ++ y).
  by rewrite -!catA !(catA (flatten (take s vs))) -!flatten_cat cat_take_drop.
set v := nth [::] vs t; have TE : from t.+1 = from t + size v.
  by rewrite /from (take_nth [::]) // -cats1 flatten_cat /= cats0 catA size_cat.
split; first by rewrite TE leq_addr.
- by rewrite (cut t.+1) (size_cat (u ++ _)) leq_addr.
- by move=> j jT; rewrite !(cut t.+1); apply: letter_catl.
move=> a; have av : a \in v by apply: all_a; rewrite mem_nth.
exists (from t + index a v); first by rewrite TE leq_addr ltn_add2l index_mem.
rewrite (cut t) letter_catr (drop_nth [::]) //= -catA -/v.
by rewrite (letter_catl _ [::]) ?index_mem // cats0 /letter (nth_map a) ?index_mem // nth_index.
Qed.

End ArchLetters.

Section Arches.

Variables (disp : Order.disp_t) (S : orderType disp) (A : eqType) (f : net S A).

Lemma seen_iota i : seen strict i = iota 0 i.
Proof. by []. Qed.

(* Positions after t factors, each of which has every letter. *)
Lemma arches_held u (vs : seq (seq A)) (x x' : seq A) t i i' :
  (forall v, v \in vs -> forall a, a \in v) -> t <= size vs ->
  let w := u ++ flatten vs ++ x in let w' := u ++ flatten vs ++ x' in
  size (u ++ flatten (take t vs)) <= i <= size w ->
  size (u ++ flatten (take t vs)) <= i' <= size w' ->
  letter w i = letter w' i' ->
  hold leftmost strict f w t i = hold leftmost strict f w' t i'.
Proof.
move=> all_a tvs w w'; elim: t tvs i i' => [|t IH] tvs i i' iw iw' same.
  by rewrite /= same.
have [mono Tw pre a_in] := arches_letters u x x' all_a tvs.
have [_ Tw' _ _] := arches_letters u x' x all_a tvs.
rewrite -/w -/w' in Tw Tw' pre a_in; set T' := size _ in iw iw' mono Tw Tw' pre a_in.
have here j s : j < T' -> hold leftmost strict f w s j = hold leftmost strict f w' s j.
  by move=> jT; apply: hold_prefix => k kj; apply: pre; lia.
have own : hold leftmost strict f w t i = hold leftmost strict f w' t i'.
  by apply: IH => //; lia.
rewrite !holdS own; congr join; apply/ffunP => h; rewrite !ffunE !seen_iota.
have -> : iota 0 i = iota 0 T' ++ iota T' (i - T').
  by rewrite -{2}[T']add0n -iotaD subnKC //; case/andP: iw.
have -> : iota 0 i' = iota 0 T' ++ iota T' (i' - T').
  by rewrite -{2}[T']add0n -iotaD subnKC //; case/andP: iw'.
rewrite !attend_seen => [|k|k].
- by congr attend; apply/eq_in_map => j; rewrite mem_iota => /andP [_ jT]; rewrite here.
- rewrite mem_iota => kT; have [|a ka _] := @letterP _ w' k; first by lia.
  have [j jT ja] := a_in a; exists j; first by rewrite mem_iota; lia.
  by rewrite -(here j); [symmetry; apply: IH; rewrite ?ja ?ka //; lia | lia].
- rewrite mem_iota => kT; have [|a ka _] := @letterP _ w k; first by lia.
  have [j jT ja] := a_in a; exists j; first by rewrite mem_iota; lia.
  have ja' : letter w' j = Some a.
    by rewrite -pre //; lia.
  by rewrite (here j); [apply: IH; rewrite ?ja' ?ka //; lia | lia].
Qed.

(* A word with n factors, each of which has every letter, looks to n layers of leftmost heads like
   the same word with anything after it. *)
Theorem arches_alike u (vs : seq (seq A)) (x x' : seq A) L :
  (forall v, v \in vs -> forall a, a \in v) -> L <= size vs ->
  accepts leftmost f L (u ++ flatten vs ++ x) = accepts leftmost f L (u ++ flatten vs ++ x').
Proof.
move=> all_a Lvs; rewrite /accepts; congr (accept _).
have le (y : seq A) : size (u ++ flatten (take L vs)) <= size (u ++ flatten vs ++ y).
  by rewrite -{2}(cat_take_drop L vs) flatten_cat -catA catA (size_cat (u ++ _)) leq_addr.
by apply: arches_held; rewrite ?le ?leqnn ?letter_size.
Qed.

End Arches.

(* The word abbaab... of n factors ab, ba, ab, ... in turn has n + 1 blocks. *)
Fixpoint arches x n : seq (seq bool) := if n is m.+1 then [:: x; ~~ x] :: arches (~~ x) m else [::].

Lemma size_arches x n : size (arches x n) = n.
Proof. by elim: n x => //= n IH x; rewrite IH. Qed.

Lemma arches_all x n v : v \in arches x n -> forall a, a \in v.
Proof.
elim: n x => //= n IH x; rewrite inE => /orP [/eqP -> a|]; last exact: IH.
by rewrite !inE; case: a; case: x.
Qed.

Lemma changes_arches x n v :
  changes x (flatten (arches x n) ++ v) = n + changes (x (+) odd n) v.
Proof.
elim: n x => [|n IH] x; first by rewrite addbF.
by rewrite /= eqxx IH; case: x; case: odd.
Qed.

Lemma blocks_leftmost_lower k disp (S : orderType disp) (f : net S bool) l :
  0 < k -> recognises leftmost f l (blocks k) -> k <= l.
Proof.
move=> k0 right; rewrite leqNgt; apply/negP => lk.
have lk1 : l <= size (arches true k.-1) by rewrite size_arches; lia.
have := arches_alike f [:: true] [::] [:: ~~ (true (+) odd k.-1)] (@arches_all true k.-1) lk1.
rewrite !right !cat1s /blocks [LHS]/= [RHS]/= !changes_arches /= addn0 prednK // eqxx.
by rewrite (_ : _ != _ = true); [lia | case: odd].
Qed.

(* --- the logic of `once` --- *)

(* Letters, Boolean connectives, and: it held at some earlier position. *)
Inductive formula A :=
  | Letter of A | True_ | Not of formula A | And of formula A & formula A
  | Or of formula A & formula A | Once of formula A.
Arguments True_ {A}.

Fixpoint nesting A (p : formula A) : nat :=
  match p with
  | Letter _ | True_ => 0 | Not q => nesting q
  | And q r | Or q r => maxn (nesting q) (nesting r) | Once q => (nesting q).+1
  end.

Fixpoint holds (A : eqType) (w : seq A) (p : formula A) (i : nat) : bool :=
  match p with
  | Letter a => letter w i == Some a
  | True_ => true
  | Not q => ~~ holds w q i
  | And q r => holds w q i && holds w r i
  | Or q r => holds w q i || holds w r i
  | Once q => has (holds w q) (iota 0 i)
  end.

(* Truth after a word. *)
Definition defines (A : eqType) (p : formula A) (language : pred (seq A)) :=
  forall w, holds w p (size w) = language w.

(* --- blocks and rightmost heads --- *)

Section TwoBlocks.

Implicit Types (w : seq bool) (x y : bool).

(* Two letters more of the alternation, where the letter before is known. *)
Lemma alternation_next x w y : y != x (+) odd (alternation x (rcons w y)).
Proof.
rewrite alternation_rcons; move: (alternation x w) => g.
by rewrite oddD oddb; case: x; case: y; case: (odd g).
Qed.

Lemma alternation_before x w i y : i <= size w ->
  before w i = Some y -> y = ~~ (x (+) odd (alternation x (take i w))).
Proof.
case: i => // i iw /=; have [z -> ->] := letterP iw => -[<-].
by have := alternation_next x (take i w) z; case: z; case: (_ (+) _).
Qed.

Definition two_more x m w j : bool :=
  [&& letter w j == Some (~~ (x (+) odd m)), before w j == Some (x (+) odd m)
    & m <= alternation x (take j w)].

Lemma alternation_two x m w i : i <= size w ->
  (m.+1 < alternation x (take i w)) = has (two_more x m w) (iota 0 i).
Proof.
elim: i => [|i IH] iw; first by rewrite take0.
have [y yi E] := letterP iw; rewrite iota_rcons has_rcons -IH ?(ltnW iw) // E.
rewrite alternation_rcons /two_more yi (inj_eq Some_inj).
have next := @alternation_before x w i _ (ltnW iw).
have first : before w i = None -> alternation x (take i w) = 0.
  by case: (i) iw => [|i'] iw'; rewrite ?take0 //=; have [z ->] := letterP (ltnW iw').
set g := alternation x (take i w) in next first *.
have [gm|mg] := ltnP g m; first by rewrite !andbF; case: (y == _); lia.
rewrite andbT; case bi: (before w i) first next => [z|] first next.
  rewrite (next z erefl) (inj_eq Some_inj); have [->|gm] := eqVneq g m.
    by case: (x (+) odd m); rewrite ?andbF /=; case: (y == _); lia.
  have [->|gm1] := eqVneq g m.+1; last by case: (y == _); case: (_ && _); lia.
  by rewrite /=; case: (y); case: (x); case: (odd m) => /=; lia.
by have g0 := first erefl; rewrite andbF; case: (y == _); lia.
Qed.

(* After layer l + 1 a position has its letter, the one before, and whether each of the two
   alternations is there up to 2 l letters, or 2 l + 1 for odd k. *)
Definition flag (s : option bool * option bool * (bool * bool)) x : bool :=
  if x then s.2.1 else s.2.2.

Definition found (r : bool) l (x : bool) (key : option bool * option bool * (bool * bool)) : bool :=
  if l is 0 then key.1.1 == Some x
  else [&& key.1.1 == Some (~~ (x (+) r)), key.1.2 == Some (x (+) r) & flag key x].

(* Three heads: the letter before, and one for each alternation. *)
Definition two_blocks r : net (bool : orderType _) bool :=
  @Net _ _ bool ((option bool * option bool * (bool * bool))%type : finType) (option bool : finType)
    (fun a => (a, None, (true, true)))
    (fun l h _ key => if h is Some x then found r l x key else true)
    (fun l own u =>
       let new x := (l == 0) && ~~ r || isSome (keep (found r l x) (u (Some x))) in
       (own.1.1, (if u None is Some key then key.1.1 else None), (new true, new false)))
    (fun s => s.2.1 && ~~ s.2.2).

Lemma two_blocks_held r w l i : i <= size w ->
  hold rightmost strict (two_blocks r) w l.+1 i
  = (letter w i, before w i,
     (l.*2 + r <= alternation true (take i w), l.*2 + r <= alternation false (take i w))).
Proof.
elim: l i => [|l IH] i iw.
  rewrite holdS seen_iota; set xs := map _ _.
  have xsE : xs = [seq (letter w j, None, (true, true)) | j <- iota 0 i] by [].
  rewrite /= !ffunE.
  have -> : (if attend rightmost (fun=> true) xs is Some key then key.1.1 else None) = before w i.
    case: (i) xsE => [|i'] ->; first by [].
    by rewrite map_iotaS attend_const.
  have E x : ~~ r || isSome (keep (found r 0 x) (attend rightmost (found r 0 x) xs))
      = (r <= alternation x (take i w)).
    rewrite (attend_any _ (found r 0 x)) xsE has_map; case: r {xs xsE} => //=.
    rewrite alternation_step //; apply: eq_has => j.
    by rewrite /= addbF andbT.
  by rewrite (E true) (E false).
rewrite holdS seen_iota; set xs := map _ _.
rewrite IH // [join _ _ _]/= !ffunE.
have -> : (if attend rightmost (fun=> true) xs is Some key then key.1.1 else None) = before w i.
  rewrite /xs; case: (i) iw => [|i'] iw; first by [].
  by rewrite map_iotaS attend_const IH ?(ltnW iw).
have E x : isSome (keep (found r l.+1 x) (attend rightmost (found r l.+1 x) xs))
    = ((l.+1).*2 + r <= alternation x (take i w)).
  rewrite (attend_any _ (found r l.+1 x)) has_map (_ : _ + r = (l.*2 + r).+2) //.
  rewrite alternation_two //; apply: eq_in_has => j; rewrite mem_iota => /andP [_ ji].
  rewrite -[LHS]/(found r l.+1 x (hold rightmost strict (two_blocks r) w l.+1 j)) IH; last by lia.
  by rewrite /found /two_more oddD odd_double oddb addFb /flag; case: x.
by rewrite (E true) (E false).
Qed.

Lemma two_blocks_recognises k : 0 < k ->
  recognises rightmost (two_blocks (odd k)) (k./2 + 1) (blocks k).
Proof.
move=> k0 w; rewrite /accepts addn1 two_blocks_held // take_size blocks_alternation //=.
by rewrite [_ + _]addnC odd_double_half.
Qed.

Lemma changes_power v n :
  changes false (flatten (nseq n [:: true; false]) ++ v) = n.*2 + changes false v.
Proof. by elim: n => //= n ->; lia. Qed.

Lemma blocks_rightmost_lower k disp (S : orderType disp) (f : net S bool) l :
  0 < k -> recognises rightmost f l (blocks k) -> k./2 + 1 <= l.
Proof.
move=> k0 right; rewrite leqNgt; apply/negP => lk; have lk1 : l <= k./2 by lia.
have B n : blocks k (flatten (nseq n [:: true; false]) ++ nseq (odd k) true)
    = (k == n.*2 + odd k).
  case: n => [|n]; first by case: (odd k) => //=.
  rewrite /= changes_power; apply: (congr1 (eq_op k)).
  by case: (odd k) => /=; lia.
have := powers_alike f rightmost [::] [:: true; false] (nseq (odd k) true) lk1.
rewrite !right !cat0s !B.
have := odd_double_half k; lia.
Qed.

End TwoBlocks.

(* --- blocks in the logic of `once` --- *)

Section OnceLogic.

Variable (A : eqType).

Lemma holds_prefix (w w' : seq A) p i :
  (forall j, j <= i -> letter w j = letter w' j) -> holds w p i = holds w' p i.
Proof.
elim: p i => [a||p IH|p IHp q IHq|p IHp q IHq|p IH] i same //=.
- by rewrite same.
- by rewrite IH.
- by rewrite IHp ?IHq.
- by rewrite IHp ?IHq.
apply: eq_in_has => j; rewrite mem_iota => /andP [_ ji]; apply: IH => j' j'j; apply: same; lia.
Qed.

Lemma arches_hold (u : seq A) (vs : seq (seq A)) (x x' : seq A) p t i i' :
  (forall v, v \in vs -> forall a, a \in v) -> nesting p <= t <= size vs ->
  size (u ++ flatten (take t vs)) <= i <= size (u ++ flatten vs ++ x) ->
  size (u ++ flatten (take t vs)) <= i' <= size (u ++ flatten vs ++ x') ->
  letter (u ++ flatten vs ++ x) i = letter (u ++ flatten vs ++ x') i' ->
  holds (u ++ flatten vs ++ x) p i = holds (u ++ flatten vs ++ x') p i'.
Proof.
move=> all_a; elim: p t i i' => [a||p IH|p IHp q IHq|p IHp q IHq|p IH] t i i' /= pt iw iw' same //.
- by rewrite same.
- by rewrite (IH t i i').
- by rewrite (IHp t i i') ?(IHq t i i') //; lia.
- by rewrite (IHp t i i') ?(IHq t i i') //; lia.
case: t pt iw iw' => // t /andP [pt tvs] iw iw'.
have [mono Tw pre a_in] := arches_letters u x x' all_a tvs.
have [_ Tw' _ _] := arches_letters u x' x all_a tvs.
apply/hasP/hasP => -[j]; rewrite mem_iota => ji pj.
  have [jT|Tj] := ltnP j (size (u ++ flatten (take t.+1 vs))).
    exists j; first by rewrite mem_iota; lia.
    by rewrite -(@holds_prefix (u ++ flatten vs ++ x)) // => j' j'j; apply: pre; lia.
  have [|a ja _] := @letterP _ (u ++ flatten vs ++ x) j; first by lia.
  have [j0 j0T j0a] := a_in a; exists j0; first by rewrite mem_iota; lia.
  by rewrite -(IH t j j0) //; rewrite -?pre ?ja ?j0a //; lia.
have [jT|Tj] := ltnP j (size (u ++ flatten (take t.+1 vs))).
  exists j; first by rewrite mem_iota; lia.
  by rewrite (@holds_prefix _ (u ++ flatten vs ++ x')) // => j' j'j; apply: pre; lia.
have [|a ja _] := @letterP _ (u ++ flatten vs ++ x') j; first by lia.
have [j0 j0T j0a] := a_in a; exists j0; first by rewrite mem_iota; lia.
by rewrite (IH t j0 j) //; rewrite ?ja ?j0a //; lia.
Qed.

End OnceLogic.

(* An alternation of k letters that begins with x is a subsequence: k times `once`. *)
Definition one_letter (x : bool) : formula bool := if x then Letter true else Letter false.
Fixpoint in_order x k : formula bool :=
  if k is l.+1 then Once (And (one_letter (x (+) odd l)) (in_order x l)) else True_.
Definition blocks_formula k : formula bool := And (in_order true k) (Not (in_order false k)).

Lemma nesting_in_order x k : nesting (in_order x k) = k.
Proof. by elim: k => //= k ->; case: (x (+) _); rewrite /= max0n. Qed.

Lemma in_order_holds w x k i : i <= size w ->
  holds w (in_order x k) i = (k <= alternation x (take i w)).
Proof.
elim: k i => [|k IH] i iw //; rewrite alternation_step // [LHS]/=.
apply: eq_in_has => j; rewrite mem_iota => /andP [_ ji]; rewrite /= IH; last by lia.
by case: (x (+) _).
Qed.

Lemma blocks_formula_defines k : 0 < k -> defines (blocks_formula k) (blocks k).
Proof. by move=> k0 w; rewrite /= !in_order_holds // take_size blocks_alternation. Qed.

Lemma blocks_nesting k p : 0 < k -> defines p (blocks k) -> k <= nesting p.
Proof.
move=> k0 right; rewrite leqNgt; apply/negP => pk.
pose vs := arches true k.-1; have sz : size vs = k.-1 by rewrite size_arches.
have le (y : seq bool) : size ([:: true] ++ flatten (take k.-1 vs))
    <= size ([:: true] ++ flatten vs ++ y).
  by rewrite take_oversize ?sz // catA (size_cat (_ ++ _)) leq_addr.
pose x' := [:: ~~ (true (+) odd k.-1)].
have : holds ([:: true] ++ flatten vs ++ [::]) p (size ([:: true] ++ flatten vs ++ [::]))
     = holds ([:: true] ++ flatten vs ++ x') p (size ([:: true] ++ flatten vs ++ x')).
  apply: (@arches_hold _ _ _ _ _ p k.-1) => [|||//|]; rewrite ?letter_size ?le ?leqnn //.
  - exact: arches_all.
  - by rewrite sz leqnn andbT; lia.
rewrite !right !cat1s /blocks [LHS]/= [RHS]/= !changes_arches /= addn0 prednK // eqxx.
by rewrite (_ : _ != _ = true); [lia | case: odd].
Qed.

(* Claim: formal_languages/blocks_hard_attention. k blocks take exactly floor(k / 2) + 1 layers of
   rightmost hard attention. *)
Theorem blocks_rightmost k : 0 < k -> least_layers rightmost 3 (blocks k) (k./2 + 1).
Proof.
move=> k0; split; last by move=> disp S f l; apply: blocks_rightmost_lower.
exists (two_blocks (odd k)); split; last exact: two_blocks_recognises.
  by exists ((option bool * option bool * (bool * bool))%type : finType).
by rewrite card_option card_bool.
Qed.

(* Claim: formal_languages/blocks_leftmost. They take exactly k layers of leftmost hard attention,
   and exactly k nested `once`; rightmost heads need floor(k / 2) + 1 layers. *)
Theorem blocks_leftmost k : 0 < k ->
  [/\ least_layers leftmost 2 (blocks k) k,
      exists2 p, defines p (blocks k) & nesting p = k,
      forall p, defines p (blocks k) -> k <= nesting p
    & least_layers rightmost 3 (blocks k) (k./2 + 1)].
Proof.
move=> k0; split; last exact: blocks_rightmost.
- split; last by move=> disp S f l; apply: blocks_leftmost_lower.
  exists once_blocks; split; last exact: once_blocks_recognises.
    by exists ((option bool * (bool * bool))%type : finType).
  by rewrite card_bool.
- exists (blocks_formula k); first exact: blocks_formula_defines.
  by rewrite /= !nesting_in_order maxnn.
- by move=> p; apply: blocks_nesting.
Qed.

(* --- values, and that they are the numbers meant --- *)

(* Claim: formal_languages/non_strict_mask. No two words that differ by a doubled letter are told
   apart where a position may attend to itself; so (ab)* is out of reach; two layers recognise it
   where it may not. *)
Theorem non_strict_mask tie :
  [/\ forall disp (S : orderType disp) A (f : net S A) u x (v : seq A) L,
        hold tie non_strict f (u ++ x :: v) L (size (u ++ x :: v)).-1
        = hold tie non_strict f (u ++ x :: x :: v) L (size (u ++ x :: x :: v)).-1,
      forall disp (S : orderType disp) (f : net S bool) L,
        ~ (forall w, ~~ nilp w -> accept (hold tie non_strict f w L (size w).-1) = alternating w)
    & exists f : net (bool : orderType _) bool,
        [/\ finite_states f, #|heads f| <= 1 & recognises rightmost f 2 alternating]].
Proof.
split; first by move=> disp S A f u x v L; apply: doubled_letter.
  by move=> disp S f L; apply: non_strict_alternating.
exists alternating_net; split; [by exists ((option bool * bool)%type : finType) | by rewrite card_unit |].
exact: strict_alternating.
Qed.

(* The least number is one number: no theorem above holds with another. *)
Lemma least_layers_unique tie H H' A (language : pred (seq A)) L L' :
  least_layers tie H language L -> least_layers tie H' language L' -> L = L'.
Proof.
move=> [[f [_ _ fL]] low] [[f' [_ _ fL']] low'].
by have := low _ _ _ _ fL'; have := low' _ _ _ _ fL; lia.
Qed.

Lemma of_nat_bin n : bin_of_nat n = N.of_nat n.
Proof.
rewrite -[RHS]nat_of_binK; congr bin_of_nat.
by elim: n => // n IH; rewrite Nnat.Nat2N.inj_succ; case: (N.of_nat n) IH => [|p] /= ->;
  rewrite ?nat_of_succ_pos.
Qed.

Definition at_least_value (k : N) : N := k.
Definition stair_value (k : N) : N := k.
Definition dyck_value (D : N) : N := N.succ D.
Definition blocks_value (k : N) : N := N.succ (N.div2 k).
Definition blocks_leftmost_value (k : N) : N := k.

Lemma at_least_valueE (k : nat) : at_least_value (bin_of_nat k) = bin_of_nat k.
Proof. by []. Qed.
Lemma stair_valueE (k : nat) : stair_value (bin_of_nat k) = bin_of_nat k.
Proof. by []. Qed.
Lemma dyck_valueE (D : nat) : dyck_value (bin_of_nat D) = bin_of_nat D.+1.
Proof. by rewrite /dyck_value !of_nat_bin -Nnat.Nat2N.inj_succ. Qed.
Lemma blocks_valueE (k : nat) : blocks_value (bin_of_nat k) = bin_of_nat (k./2 + 1).
Proof.
have div2E n : PeanoNat.Nat.div2 n = n./2.
  by elim/ltn_ind: n => -[|[|n]] IH //=; rewrite -IH.
by rewrite /blocks_value !of_nat_bin -Nnat.Nat2N.inj_div2 -Nnat.Nat2N.inj_succ addn1 div2E.
Qed.
Lemma blocks_leftmost_valueE (k : nat) : blocks_leftmost_value (bin_of_nat k) = bin_of_nat k.
Proof. by []. Qed.

Lemma value_of (value : N -> N) (g : nat -> nat) (k : N) :
  (forall n : nat, value (bin_of_nat n) = bin_of_nat (g n)) ->
  nat_of_bin (value k) = g (nat_of_bin k).
Proof. by move=> E; rewrite -{1}(nat_of_binK k) E bin_of_natK. Qed.

(* --- as the claims say it, for k in binary --- *)

(* Claim: formal_languages/strict_hierarchy. The words of at least k letters take `at_least_value k`
   layers; of two words of equal letters all nets of k layers agree exactly if both have k letters,
   or as many; and no number of layers decides whether a length is even. *)
Theorem strict_hierarchy_checked (A : finType) (a : A) (k : N) :
  [/\ least_layers rightmost 1 (@at_least A (nat_of_bin k)) (nat_of_bin (at_least_value k)),
      forall n m, (forall disp (S : orderType disp) (f : net S A),
          accepts rightmost f (nat_of_bin k) (nseq n a)
          = accepts rightmost f (nat_of_bin k) (nseq m a))
        <-> minn n (nat_of_bin k) = minn m (nat_of_bin k)
    & forall disp (S : orderType disp) (f : net S A) L,
        ~ recognises rightmost f L (fun w => ~~ odd (size w))].
Proof. exact: strict_hierarchy. Qed.

(* Claim: least_depth/stair_layers. k letters a in a row, c's left out, take exactly `stair_value k`
   layers of rightmost hard attention. *)
Theorem stair_layers_checked (A : finType) (a c : A) (k : N) : a != c ->
  least_layers rightmost 1 (stair a c (nat_of_bin k)) (nat_of_bin (stair_value k)).
Proof. by move=> ac; apply: (stair_layers ac). Qed.

(* Claim: least_depth/dyck_layers. Brackets nested to depth D take exactly `dyck_value D` layers of
   rightmost hard attention. Their types are the elements of a finite set that is not empty. *)
Theorem dyck_layers_checked (T : finType) (D : N) : 0 < #|T| ->
  least_layers rightmost 1 (@dyck T (nat_of_bin D)) (nat_of_bin (dyck_value D)).
Proof.
by move=> /card_gt0P [t0 _]; rewrite (value_of _ dyck_valueE); apply: (dyck_layers t0).
Qed.

(* Claim: formal_languages/blocks_hard_attention. k blocks take exactly `blocks_value k` layers of
   rightmost hard attention. *)
Theorem blocks_rightmost_checked (k : N) : 0 < nat_of_bin k ->
  least_layers rightmost 3 (blocks (nat_of_bin k)) (nat_of_bin (blocks_value k)).
Proof. by rewrite (value_of _ blocks_valueE); apply: blocks_rightmost. Qed.

(* Claim: formal_languages/blocks_leftmost. k blocks take exactly `blocks_leftmost_value k` layers
   of leftmost hard attention, so many nested `once`, and `blocks_value k` layers of rightmost. *)
Theorem blocks_leftmost_checked (k : N) : 0 < nat_of_bin k ->
  [/\ least_layers leftmost 2 (blocks (nat_of_bin k)) (nat_of_bin (blocks_leftmost_value k)),
      exists2 p, defines p (blocks (nat_of_bin k))
        & nesting p = nat_of_bin (blocks_leftmost_value k),
      forall p, defines p (blocks (nat_of_bin k))
        -> nat_of_bin (blocks_leftmost_value k) <= nesting p
    & least_layers rightmost 3 (blocks (nat_of_bin k)) (nat_of_bin (blocks_value k))].
Proof. by rewrite (value_of _ blocks_valueE); apply: blocks_leftmost. Qed.

(* --- instances, and other constants --- *)

Example stair_word : let a := Some true in let b := Some false in let c := None in
  @stair (option bool : finType) a c 3 [:: b; a; c; a; c; c; a; b]
  && ~~ @stair (option bool : finType) a c 3 [:: a; a; b; a].
Proof. by vm_compute. Qed.
Example dyck_word : @dyck (bool : finType) 2
    [:: (true, true); (true, false); (false, false); (false, true)].
Proof. by vm_compute. Qed.
Example blocks_word : blocks 3 [:: true; true; false; true] && ~~ blocks 3 [:: true; false].
Proof. by []. Qed.
Example alternating_word :
  alternating [:: true; false; true; false] && ~~ alternating [:: true; true].
Proof. by []. Qed.
Example three_types_of_brackets : least_layers rightmost 1 (@dyck ('I_3 : finType) 4) 5.
Proof. exact: (dyck_layers ord0). Qed.
Example stair_3 :
  least_layers rightmost 1 (@stair (option bool : finType) (Some true) None 3) 3.
Proof. by apply: stair_layers. Qed.

(* Heights first and matching after would take one layer more. *)
Lemma dyck_not_two_more (T : finType) (t0 : T) D : ~ least_layers rightmost 1 (@dyck T D) D.+2.
Proof. by move=> h; have := least_layers_unique h (dyck_layers t0 D); lia. Qed.
Lemma stair_not_one_less (A : finType) (a c : A) k :
  a != c -> ~ least_layers rightmost 1 (stair a c k.+1) k.
Proof. by move=> ac h; have := least_layers_unique h (stair_layers ac k.+1); lia. Qed.
Lemma at_least_not_one_less (A : finType) (a : A) k :
  ~ least_layers rightmost 1 (@at_least A k.+1) k.
Proof.
have [low _ _] := strict_hierarchy rightmost k.+1 a.
by move=> h; have := least_layers_unique h low; lia.
Qed.
(* Not a layer for each block; leftmost heads do need that many. *)
Lemma blocks_not_each k : 2 < k -> ~ least_layers rightmost 3 (blocks k) k.
Proof.
move=> k2 h; have k0 : 0 < k by lia.
by have := least_layers_unique h (blocks_rightmost k0); lia.
Qed.
Lemma blocks_leftmost_not_half k : 2 < k -> ~ least_layers leftmost 2 (blocks k) (k./2 + 1).
Proof.
move=> k2 h; have [|low _ _ _] := @blocks_leftmost k; first by lia.
by have := least_layers_unique h low; lia.
Qed.
Example values :
  [/\ at_least_value 5 = 5, stair_value 5 = 5, dyck_value 5 = 6, blocks_leftmost_value 5 = 5
    & [seq blocks_value k | k <- [:: 1; 2; 3; 4; 5; 6; 7]] = [:: 1; 2; 2; 3; 3; 4; 4]]%num.
Proof. by []. Qed.

(* The least layers of five languages, by the numbers of the claims. *)
Example at_least_5 : least_layers rightmost 1 (@at_least (bool : finType) 5) 5.
Proof. by have [] := @strict_hierarchy_checked _ true 5. Qed.
Example stair_5 :
  least_layers rightmost 1 (@stair (option bool : finType) (Some true) None 5) 5.
Proof. by apply: (@stair_layers_checked _ _ _ 5). Qed.
Example dyck_5 : least_layers rightmost 1 (@dyck (bool : finType) 5) 6.
Proof. by apply: (@dyck_layers_checked _ 5); rewrite card_bool. Qed.
Example blocks_5 : least_layers rightmost 3 (blocks 5) 3 /\ least_layers leftmost 2 (blocks 5) 5.
Proof.
by split; [exact: (@blocks_rightmost_checked 5) | have [] := @blocks_leftmost_checked 5 isT].
Qed.

(* Two layers of leftmost heads, whatever they are, take the words abba and abbaab for one. *)
Example leftmost_two_arches disp (S : orderType disp) (f : net S bool) :
  accepts leftmost f 2 [:: true; false; false; true]
  = accepts leftmost f 2 [:: true; false; false; true; true; false].
Proof.
apply: (@arches_alike _ _ _ f [::] [:: [:: true; false]; [:: false; true]] [::]) => //.
by move=> v; rewrite !inE => /orP [] /eqP-> [].
Qed.

(* The two layers that recognise (ab)* under a strict mask fail on some word where a position may
   attend to itself. *)
Example alternating_net_fails : ~ forall w, ~~ nilp w ->
  accept (hold rightmost non_strict alternating_net w 2 (size w).-1) = alternating w.
Proof. by have [_ fails _] := non_strict_mask rightmost; apply: fails. Qed.
