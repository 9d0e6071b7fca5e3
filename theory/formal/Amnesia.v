(* A causal net forgets the tokens whose states have collapsed.

   Claim: rank_collapse/causal_amnesia (theory/rank_collapse/amnesia.py). Any causal map of
   sequences is one function of the prefixes; layers of any kind under a causal mask compose to such
   a map, and so do transformers with causal masks (Bridges.causal_transformer); for it the distance
   of two last states is at most the sum of two diameters.

   Depth and width are arbitrary, and states are those of any list of layers, so the statement holds
   after every layer of a net. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.

Import Order.TTheory GRing.Theory Num.Theory.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.

(* --- the objects --- *)

(* The nonempty prefixes of a sequence, shortest first. *)
Definition prefixes A (s : seq A) : seq (seq A) := [seq take i.+1 s | i <- iota 0 (size s)].

(* A layer under a causal mask: the new state of a position is any function of the states up to it.
   Its number is the length of the prefix, so that position embeddings are such a layer too. *)
Definition causal_layer A B (g : seq A -> B) (s : seq A) : seq B := [seq g p | p <- prefixes s].

(* A map of sequences is causal if it has one value per position, and what follows a sequence does
   not change its values. *)
Definition causal A B (F : seq A -> seq B) : Prop :=
  forall s t, size (F s) = size s /\ take (size s) (F (s ++ t)) = F s.

(* Layers, the first one first. *)
Fixpoint net T (layers : seq (seq T -> T)) (h : seq T) : seq T :=
  if layers is g :: later then net later (causal_layer g h) else h.

(* Embeddings of tokens and positions, then layers. *)
Definition causal_net A T (embed : seq A -> T) (layers : seq (seq T -> T)) (w : seq A) : seq T :=
  net layers (causal_layer embed w).

Section Distances.

Variable R : realDomainType.

(* The largest of some numbers, at least 0. *)
Definition largest (s : seq R) : R := foldr Num.max 0 s.

Definition pseudometric T (dist : T -> T -> R) : Prop :=
  [/\ forall x, dist x x = 0, forall x y, dist x y = dist y x
    & forall x y z, dist x z <= dist x y + dist y z].

(* The largest distance of two points of a sequence. *)
Definition diameter T (dist : T -> T -> R) (s : seq T) : R :=
  largest [seq dist x y | x <- s, y <- s].

(* The distance of two rows in the maximum norm. *)
Definition max_distance d (x y : 'rV[R]_d) : R :=
  largest [seq `|x 0 k - y 0 k| | k <- enum 'I_d].

(* The states of an input from the last one of the shared tokens on. *)
Definition states_from A T (F : seq A -> seq T) (shared rest : seq A) : seq T :=
  drop (size shared).-1 (F (shared ++ rest)).

End Distances.

(* --- causal maps --- *)

Lemma size_causal_layer A B (g : seq A -> B) s : size (causal_layer g s) = size s.
Proof. by rewrite !size_map size_iota. Qed.

Lemma causal_layer_causal A B (g : seq A -> B) : causal (causal_layer g).
Proof.
move=> s t; split; first exact: size_causal_layer.
rewrite /causal_layer /prefixes -!map_comp -map_take size_cat take_iota.
rewrite (minn_idPl (leq_addr _ _)); apply/eq_in_map => i; rewrite mem_iota /= add0n => lti.
by rewrite takel_cat.
Qed.

Lemma causal_id A : causal (@id (seq A)).
Proof. by move=> s t; rewrite take_size_cat. Qed.

Lemma causal_comp A B C (F : seq A -> seq B) (G : seq B -> seq C) :
  causal F -> causal G -> causal (fun s => G (F s)).
Proof.
move=> cF cG s t; have [sF tF] := cF s t.
split; first by rewrite (cG _ [::]).1.
rewrite -(cat_take_drop (size s) (F (s ++ t))) tF -{1}sF.
exact: (cG _ _).2.
Qed.

Lemma net_causal T (layers : seq (seq T -> T)) : causal (net layers).
Proof.
elim: layers => [|g later IH] /=; first exact: causal_id.
exact: causal_comp (causal_layer_causal g) IH.
Qed.

(* Claim: rank_collapse/causal_amnesia, "every causal net whose embeddings do not depend on the
   length". Layers under a causal mask, of any number and kind, compose to a causal map. *)
Theorem causal_net_causal A T (embed : seq A -> T) (layers : seq (seq T -> T)) :
  causal (causal_net embed layers).
Proof. exact: causal_comp (causal_layer_causal embed) (net_causal layers). Qed.

(* A causal map is one function of the prefixes, and nothing else is causal: the state at position i
   depends on the tokens up to i alone. *)
Theorem causal_prefix A B (x0 : B) (F : seq A -> seq B) :
  causal F <-> forall s, F s = causal_layer (fun p => last x0 (F p)) s.
Proof.
split=> [cF s | eqF]; last first.
  move=> s t; rewrite [F (s ++ t)]eqF [F s]eqF.
  exact: (causal_layer_causal (fun p => last x0 (F p)) s t).
apply: (@eq_from_nth _ x0) => [|i]; first by rewrite size_causal_layer (cF s [::]).1.
rewrite (cF s [::]).1 => lti.
rewrite (nth_map [::]) ?size_map ?size_iota // (nth_map 0%N) ?size_iota // nth_iota // add0n.
have [szp eqp] := cF (take i.+1 s) (drop i.+1 s).
rewrite cat_take_drop size_takel // in eqp szp.
by rewrite -nth_last szp /= -eqp nth_take.
Qed.

(* The net run on a prefix gives the states of the prefix: a whole net is a causal layer. *)
Example causal_net_prefix A T (x0 : T) (embed : seq A -> T) (layers : seq (seq T -> T)) w :
  causal_net embed layers w = causal_layer (fun p => last x0 (causal_net embed layers p)) w.
Proof. by apply: (causal_prefix x0 _).1; apply: causal_net_causal. Qed.

(* --- distances --- *)

Section Amnesia.

Variable R : realFieldType.

Lemma largest_ge (s : seq R) x : x \in s -> x <= largest s.
Proof.
elim: s => //= y s IH; rewrite inE le_max => /predU1P[->|/IH ->]; first by rewrite lexx.
by rewrite orbT.
Qed.

Lemma largest_le (s : seq R) b : 0 <= b -> {in s, forall x, x <= b} -> largest s <= b.
Proof.
move=> b0; elim: s => //= y s IH le_b; rewrite ge_max le_b ?mem_head //=.
by apply: IH => x sx; apply: le_b; rewrite inE sx orbT.
Qed.

Lemma largest_ge0 (s : seq R) : 0 <= largest s.
Proof. by case: s => //= y s; elim: s y => [|z s IH] y /=; rewrite le_max ?lexx ?IH orbT. Qed.

Lemma diameter_ge (T : eqType) (dist : T -> T -> R) (s : seq T) x y :
  x \in s -> y \in s -> dist x y <= diameter dist s.
Proof. by move=> sx sy; apply/largest_ge/allpairs_f. Qed.

Lemma diameter_le (T : eqType) (dist : T -> T -> R) (s : seq T) b :
  0 <= b -> {in s &, forall x y, dist x y <= b} -> diameter dist s <= b.
Proof.
by move=> b0 le_b; apply: largest_le => // _ /allpairsP[[x y] [sx sy ->]]; apply: le_b.
Qed.

Lemma max_distance_pseudometric d : pseudometric (@max_distance R d).
Proof.
split=> [x | x y | x y z].
- apply/eqP; rewrite eq_le largest_ge0 andbT; apply: largest_le => // _ /mapP[k _ ->].
  by rewrite subrr normr0.
- by congr largest; apply: eq_map => k; rewrite distrC.
apply: largest_le; first by rewrite addr_ge0 ?largest_ge0.
move=> _ /mapP[k k_in ->]; rewrite -(subrKA (y 0 k)) (le_trans (ler_normD _ _)) //.
by rewrite lerD //; apply: largest_ge; apply: map_f.
Qed.

(* --- the theorem --- *)

Section Bound.

Variables (A : Type) (T : eqType) (x0 : T) (dist : T -> T -> R) (F : seq A -> seq T).
Hypotheses (dist_pseudo : pseudometric dist) (F_causal : causal F).
Variable shared : seq A.
Hypothesis shared_some : (0 < size shared)%N.

Let before := (size shared).-1.

Lemma lt_before rest : (before < size (F (shared ++ rest)))%N.
Proof.
by rewrite (F_causal _ [::]).1 size_cat (leq_trans _ (leq_addr _ _)) // prednK.
Qed.

(* The state of the last shared token is that of the shared tokens alone. *)
Lemma shared_state rest : nth x0 (F (shared ++ rest)) before = last x0 (F shared).
Proof.
have [szF eqF] := F_causal shared rest.
by rewrite -nth_last szF -eqF nth_take // prednK.
Qed.

Lemma last_near rest :
  dist (last x0 (F (shared ++ rest))) (last x0 (F shared)) <=
  diameter dist (states_from F shared rest).
Proof.
rewrite -(shared_state rest) /states_from.
set s := F _; have lt_s : (before < size s)%N by apply: lt_before.
apply: diameter_ge; rewrite -/before (drop_nth x0 lt_s) ?mem_head //.
have -> : last x0 s = last (nth x0 s before) (drop before.+1 s); last exact: mem_last.
by rewrite -{1}(cat_take_drop before s) last_cat (drop_nth x0 lt_s).
Qed.

(* Claim: rank_collapse/causal_amnesia, "the distance of their last states is at most the sum of the
   diameters of the states of either input from position t on". The claim's object itself: any
   causal net, any lengths, any pseudometric; measured there in the maximum norm. *)
Theorem causal_amnesia u v :
  dist (last x0 (F (shared ++ u))) (last x0 (F (shared ++ v))) <=
  diameter dist (states_from F shared u) + diameter dist (states_from F shared v).
Proof.
have [_ dist_sym triangle] := dist_pseudo.
rewrite (le_trans (triangle _ (last x0 (F shared)) _)) // lerD ?last_near //.
by rewrite dist_sym last_near.
Qed.

(* If the states of both inputs from position t on agree up to eps, the last states differ by at
   most 2 eps. *)
Theorem causal_amnesia_twice u v eps :
  0 <= eps ->
  {in states_from F shared u &, forall x y, dist x y <= eps} ->
  {in states_from F shared v &, forall x y, dist x y <= eps} ->
  dist (last x0 (F (shared ++ u))) (last x0 (F (shared ++ v))) <= eps *+ 2.
Proof.
move=> eps0 near_u near_v; rewrite (le_trans (causal_amnesia u v)) // mulr2n.
by rewrite lerD ?diameter_le.
Qed.

(* A read-out with Lipschitz constant K > 0 that tells two such inputs apart by a margin needs a
   diameter of at least margin / (2 K) for one of them. *)
Theorem causal_amnesia_margin (read : T -> R) (K margin : R) u v :
  0 < K -> (forall x y, `|read x - read y| <= K * dist x y) ->
  margin <= `|read (last x0 (F (shared ++ u))) - read (last x0 (F (shared ++ v)))| ->
  margin / (K *+ 2) <= Num.max (diameter dist (states_from F shared u))
                               (diameter dist (states_from F shared v)).
Proof.
move=> K0 lipschitz apart; set D := Num.max _ _.
have K2 : 0 < K *+ 2 by rewrite mulrn_wgt0.
rewrite ler_pdivrMr // (le_trans apart) // (le_trans (lipschitz _ _)) //.
have -> : D * (K *+ 2) = K * (D + D) by ring.
rewrite ler_pM2l // (le_trans (causal_amnesia u v)) // lerD // le_max lexx ?orbT //.
Qed.

(* Attained where one input is the shared tokens alone and the other adds one token. *)
Theorem causal_amnesia_prefix a :
  dist (last x0 (F (shared ++ [:: a]))) (last x0 (F (shared ++ [::]))) =
  diameter dist (states_from F shared [:: a]) + diameter dist (states_from F shared [::]).
Proof.
have [dist_xx dist_sym triangle] := dist_pseudo.
have [sz1 _] := F_causal (shared ++ [:: a]) [::].
have dist0 x y : 0 <= dist x y.
  have := triangle x y x; rewrite dist_xx [dist y x]dist_sym -mulr2n.
  by rewrite pmulrn_lge0.
apply/eqP; rewrite eq_le causal_amnesia /=.
have -> : diameter dist (states_from F shared [::]) = 0.
  apply/eqP; rewrite eq_le largest_ge0 andbT; apply: diameter_le => // x y.
  have lt0 : (before < size (F shared))%N by have := lt_before [::]; rewrite cats0.
  rewrite /states_from cats0 -/before (drop_nth x0 lt0) drop_oversize; last first.
    by rewrite (F_causal shared [::]).1 prednK.
  by rewrite !inE => /eqP-> /eqP->; rewrite dist_xx.
rewrite addr0 cats0 -(shared_state [:: a]); apply: diameter_le => // x y.
rewrite /states_from -/before; set s := F _ in sz1 *.
have size_s : size s = before.+2 by rewrite sz1 size_cat addn1 -(prednK shared_some).
rewrite (drop_nth x0) ?size_s // (drop_nth x0) ?size_s // drop_oversize ?size_s //.
rewrite -nth_last size_s /= !inE => /orP[] /eqP-> /orP[] /eqP->; rewrite ?dist_xx ?dist0 //.
by rewrite dist_sym.
Qed.

End Bound.

(* --- transformers: the nets of the claim --- *)

Section Transformers.

Variable d : nat.

(* Weights of the scores of the tokens seen: equal ones, those in proportion to 1 + score^2, and
   equal ones on the highest scores. *)
Definition uniform (scores : seq R) : seq R := [seq (size scores)%:R^-1 | _ <- scores].
Definition proportional (scores : seq R) : seq R :=
  [seq (1 + x ^+ 2) / \sum_(y <- scores) (1 + y ^+ 2) | x <- scores].
Definition hardmax (scores : seq R) : seq R :=
  let highest := [pred x | all (fun y => y <= x) scores] in
  [seq (highest x)%:R / (count highest scores)%:R | x <- scores].

Record block := Block {
  weigh : seq R -> seq R;
  query : 'M[R]_d; key : 'M[R]_d; value : 'M[R]_d; inner : 'M[R]_d; outer : 'M[R]_d;
  residual : bool; mlp : bool
}.

(* Attention of x to the tokens seen, then the residual connection, then a ReLU block. *)
Definition apply_block (b : block) (seen : seq 'rV[R]_d) (x : 'rV[R]_d) : 'rV[R]_d :=
  let scores := [seq ((x *m query b) *m (y *m key b)^T) 0 0 | y <- seen] in
  let mixed := \sum_(p <- zip (weigh b scores) seen) p.1 *: p.2 in
  let h := mixed *m value b + (if residual b then x else 0) in
  if mlp b then h + map_mx (Num.max 0) (h *m inner b) *m outer b else h.

(* With the causal mask a token sees those up to itself; without it, all. *)
Definition masked (b : block) (seen : seq 'rV[R]_d) : 'rV[R]_d := apply_block b seen (last 0 seen).
Definition unmasked (b : block) (h : seq 'rV[R]_d) : seq 'rV[R]_d :=
  [seq apply_block b h x | x <- h].

(* Rows of letters and of positions, numbered from 0. *)
Definition embedding (letters places : nat -> 'rV[R]_d) (seen : seq nat) : 'rV[R]_d :=
  letters (last 0%N seen) + places (size seen).-1.

Definition transformer letters places (blocks : seq block) : seq nat -> seq 'rV[R]_d :=
  causal_net (embedding letters places) [seq masked b | b <- blocks].

(* Claim: rank_collapse/causal_amnesia for the nets that it runs, with the weights of all three
   kinds of attention or any others (softmax as well), residual connections and ReLU
   blocks or not. *)
Theorem transformer_amnesia letters places blocks shared u v :
  (0 < size shared)%N ->
  let F := transformer letters places blocks in
  max_distance (last 0 (F (shared ++ u))) (last 0 (F (shared ++ v))) <=
  diameter (@max_distance R d) (states_from F shared u) +
  diameter (@max_distance R d) (states_from F shared v).
Proof.
move=> some; apply: causal_amnesia => //; first exact: max_distance_pseudometric.
exact: causal_net_causal.
Qed.

End Transformers.

End Amnesia.

(* --- what the hypotheses are for --- *)

Definition rat_distance (x y : rat) : rat := `|x - y|.

Lemma rat_distance_pseudometric : pseudometric rat_distance.
Proof.
split=> [x | x y | x y z]; rewrite /rat_distance ?subrr ?normr0 //; first exact: distrC.
by rewrite -(subrKA y) (le_trans (ler_normD _ _)) //.
Qed.

(* Two inputs 0 and 0, 1 of the net of no layer: distance 1, diameters 0 and 1. *)
Example causal_amnesia_met :
  let F := causal_net (last (0 : rat)) [::] in
  rat_distance (last 0 (F [:: 0; 1])) (last 0 (F [:: 0])) = 1 /\
  diameter rat_distance (states_from F [:: 0] [:: 1]) = 1 /\
  diameter rat_distance (states_from F [:: 0] [::]) = 0.
Proof. by []. Qed.

(* From the token after the shared ones on the diameters say too little. *)
Lemma causal_amnesia_not_later :
  exists (F : seq rat -> seq rat) (shared u v : seq rat), causal F /\ (0 < size shared)%N /\
    diameter rat_distance (drop (size shared) (F (shared ++ u))) +
    diameter rat_distance (drop (size shared) (F (shared ++ v))) <
    rat_distance (last 0 (F (shared ++ u))) (last 0 (F (shared ++ v))).
Proof. by exists id, [:: 0], [:: 1], [:: 0]; split; first exact: causal_id. Qed.

(* Embeddings that depend on the length break the bound. *)
Lemma causal_amnesia_not_length :
  exists (F : seq rat -> seq rat) (shared u v : seq rat), (0 < size shared)%N /\
    diameter rat_distance (states_from F shared u) +
    diameter rat_distance (states_from F shared v) <
    rat_distance (last 0 (F (shared ++ u))) (last 0 (F (shared ++ v))).
Proof. by exists (fun s => nseq (size s) (size s)%:R), [:: 0], [:: 1], [::]. Qed.

(* Claim: rank_collapse/causal_amnesia, "without a mask the ratio has no bound": uniform attention
   makes all states equal in one layer, and the means of two inputs differ. *)
Theorem unmasked_no_bound (bound : rat) :
  exists (b : block (rat : realFieldType) 1) (shared u v : seq 'rV[rat]_1), (0 < size shared)%N /\
    bound * (diameter (@max_distance _ 1) (states_from (unmasked b) shared u) +
             diameter (@max_distance _ 1) (states_from (unmasked b) shared v)) <
    max_distance (last 0 (unmasked b (shared ++ u))) (last 0 (unmasked b (shared ++ v))).
Proof.
pose b := Block (@uniform (rat : realFieldType)) 0 0 (1%:M : 'M[rat]_1) 0 0 false false.
exists b, [:: 0], [:: 1], [::]; split=> //.
have mean s x : apply_block b s x = \sum_(p <- zip (nseq (size s) (size s)%:R^-1) s) p.1 *: p.2.
  rewrite /apply_block /= mulmx1 addr0; congr (\sum_(p <- zip _ s) _).
  by rewrite /uniform size_map; move: (_^-1) => c; elim: s => //= y s ->.
have diameter0 s : diameter (@max_distance _ 1) (unmasked b s) = 0.
  apply/eqP; rewrite eq_le largest_ge0 andbT; apply: diameter_le => // x y.
  move=> /mapP[x' _ ->] /mapP[y' _ ->]; rewrite !mean.
  by have [-> _ _] := @max_distance_pseudometric (rat : realFieldType) 1.
rewrite /states_from !drop0 !diameter0 addr0 mulr0 /= !mean /= !big_cons big_nil /=.
apply: (@lt_le_trans _ _ (2%:R^-1)) => //.
apply/largest_ge/mapP; exists 0; first by rewrite mem_enum.
by rewrite !scaler0 !add0r !addr0 !mxE subr0.
Qed.

(* Two layers of hardmax attention with residual connections, on 1, 2, 3 and 1, 2. *)
Example transformer_met :
  let b := Block (@hardmax (rat : realFieldType)) 1%:M 1%:M (1%:M : 'M[rat]_2) 0 0 true false in
  let F := transformer (fun a => const_mx a%:R) (fun p => const_mx p%:R) [:: b; b] in
  max_distance (last 0 (F [:: 1; 2; 3]%N)) (last 0 (F [:: 1; 2]%N)) <=
  diameter (@max_distance _ 2) (states_from F [:: 1; 2]%N [:: 3]%N) +
  diameter (@max_distance _ 2) (states_from F [:: 1; 2]%N [::]).
Proof. exact: (transformer_amnesia _ _ _ [:: 3]%N [::] (isT : 0 < size [:: 1; 2])%N). Qed.

(* Claim: rank_collapse/causal_amnesia. The distance of the two answers is at most 1 times the sum
   of the diameters: the ratio of the claim, where that sum is not 0. *)
Corollary causal_amnesia_checked (R : realFieldType) (A : Type) (T : eqType) (x0 : T)
    (dist : T -> T -> R) (F : seq A -> seq T) (shared : seq A) u v :
  let sum := diameter dist (states_from F shared u) + diameter dist (states_from F shared v) in
  pseudometric dist -> causal F -> (0 < size shared)%N -> 0 < sum ->
  dist (last x0 (F (shared ++ u))) (last x0 (F (shared ++ v))) / sum <= (nat_of_bin 1%num)%:R.
Proof. by move=> sum D C S s0; rewrite ler_pdivrMr // mul1r; apply: causal_amnesia. Qed.

(* Each state is the sum of all tokens so far. The shared token is 1; then comes 2 in one input, and
   -2 in the other. The states are 1, 3 and 1, -1: two diameters of 2, and last states 4 apart. *)
Definition running_sum : seq rat -> seq rat := causal_net (fun s => \sum_(x <- s) x) [::].

Lemma running_sum_causal : causal running_sum.
Proof. exact: causal_net_causal. Qed.

Lemma running_sum_states :
  states_from running_sum [:: 1] [:: 2%:R] = [:: 1; 3%:R] /\
  states_from running_sum [:: 1] [:: - 2%:R] = [:: 1; -1].
Proof. by rewrite /states_from /running_sum /causal_net /= !unlock; split; apply/eqP. Qed.

Example causal_amnesia_attained :
  let F := running_sum in let shared := [:: 1] in let u := [:: 2%:R] in let v := [:: - 2%:R] in
  let sum := diameter rat_distance (states_from F shared u) +
             diameter rat_distance (states_from F shared v) in
  [/\ rat_distance (last 0 (F (shared ++ u))) (last 0 (F (shared ++ v))) = 4%:R, sum = 4%:R
    & rat_distance (last 0 (F (shared ++ u))) (last 0 (F (shared ++ v))) / sum <= 1].
Proof.
move=> F shared u v sum; have [Su Sv] := running_sum_states.
have sum4 : sum = 4%:R by rewrite /sum Su Sv; apply/eqP.
split=> //; first by rewrite /F /running_sum /causal_net /= !unlock; apply/eqP.
apply: (causal_amnesia_checked 0 rat_distance_pseudometric running_sum_causal) => //.
by rewrite -/sum sum4.
Qed.

(* The states of either input agree up to 2, so that the last ones differ by at most 4, as they do;
   and the states themselves, read out, are 4 apart, which takes a diameter of 2. *)
Example causal_amnesia_twice_met :
  rat_distance (last 0 (running_sum [:: 1; 2%:R])) (last 0 (running_sum [:: 1; - 2%:R])) <= 4%:R.
Proof.
have [Su Sv] := running_sum_states.
apply: (@causal_amnesia_twice _ _ _ 0 _ _ rat_distance_pseudometric running_sum_causal [:: 1] isT
  [:: 2%:R] [:: - 2%:R] 2%:R) => //.
  by rewrite Su => x y; rewrite !inE => /orP [] /eqP-> /orP [] /eqP->.
by rewrite Sv => x y; rewrite !inE => /orP [] /eqP-> /orP [] /eqP->.
Qed.
Example causal_amnesia_margin_met :
  2%:R <= Num.max (diameter rat_distance (states_from running_sum [:: 1] [:: 2%:R]))
                  (diameter rat_distance (states_from running_sum [:: 1] [:: - 2%:R])).
Proof.
apply: le_trans (@causal_amnesia_margin _ _ _ 0 _ _ rat_distance_pseudometric running_sum_causal
  [:: 1] isT id 1 4%:R _ _ _ _ _) => // [x y|].
  by rewrite mul1r.
by rewrite /running_sum /causal_net /= !unlock.
Qed.

(* One token more, here 2: the bound is attained, 2 = 2 + 0. *)
Example causal_amnesia_prefix_met :
  rat_distance (last 0 (running_sum [:: 1; 2%:R])) (last 0 (running_sum [:: 1])) =
  diameter rat_distance (states_from running_sum [:: 1] [:: 2%:R]) +
  diameter rat_distance (states_from running_sum [:: 1] [::]).
Proof.
exact: (@causal_amnesia_prefix _ _ _ 0 _ _ rat_distance_pseudometric running_sum_causal [:: 1] isT).
Qed.
