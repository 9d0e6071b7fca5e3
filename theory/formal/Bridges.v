(* The nets of other files are transformers, as Transformer.v defines them.

   For all weights, inputs, lengths, widths and numbers of heads and layers that a file allows, the
   states (or what is read of them) are equal: linear attention (LinearAttention.v), softmax over Coq's real numbers
   (Softmax.v and the net of ParityUniform.v), any weights under a causal mask (Amnesia.v),
   comparisons of counts (Caps.v), one layer at a query token (Parity.v), and hard attention
   (HardAttention.v, BothWays.v, HopsSelfSkip.v). What these files prove of their nets they prove
   of transformers; some of it is said here of more of them: transformer_amnesia,
   rounded_blocks_beyond, rounded_collapse_caps, equal_states, parity_transformer. *)

From Coq Require Reals.
From mathcomp Require Import all_ssreflect all_algebra.
From Depthlaw Require LinearAttention Softmax ParityUniform Amnesia Caps Thoughts Parity.
From Depthlaw Require HardAttention BothWays HopsSelfSkip.
From Depthlaw Require Import Transformer.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* --- what the proofs share --- *)

Lemma zip_mapr A B C (f : B -> C) (s : seq A) (t : seq B) :
  zip s [seq f y | y <- t] = [seq (p.1, f p.2) | p <- zip s t].
Proof. by elim: s t => [|x s IH] [|y t] //=; rewrite IH. Qed.

Section Shared.

Variables (T X S V : Type) (blank : T) (zero : V) (add : V -> V -> V) (scale : S -> V -> V).
Implicit Type h : head T X S V.
Local Notation read := (read blank zero add scale).

(* What a head reads, as a sum over its places. *)
Lemma read_sum h s i : read h s i = \big[add/zero]_(p <- zip (weights blank h s i)
  (seen h (size s) i)) scale p.1 (value h (nth blank s p.2)).
Proof. by rewrite /read foldrE big_map. Qed.

(* The same where a weight is made of the score, and of all scores. *)
Lemma read_seen h s i (f : seq X -> X -> S) : (forall xs, weigh h xs = [seq f xs x | x <- xs]) ->
  read h s i = \big[add/zero]_(j <- seen h (size s) i)
    scale (f (scores blank h s i) (score h i j (nth blank s i) (nth blank s j)))
      (value h (nth blank s j)).
Proof.
move=> weighE; rewrite read_sum /weights weighE; set g := f _.
have -> : [seq g x | x <- scores blank h s i] = [seq g (score h i j (nth blank s i)
  (nth blank s j)) | j <- seen h (size s) i] by rewrite -map_comp.
by rewrite -[X in zip _ X]map_id zip_map big_map.
Qed.

End Shared.

(* The tokens of a function on places. *)
Definition tokens n T (y : 'I_n -> T) : seq T := [seq y i | i <- enum 'I_n].

Section Tokens.

Variables (T X S V : Type) (blank : T) (zero : V) (add : V -> V -> V) (scale : S -> V -> V).
Variable n : nat.
Implicit Types (h : head T X S V) (b : block T X S V) (y : 'I_n -> T).

Lemma size_tokens y : size (tokens y) = n.
Proof. by rewrite size_map size_enum_ord. Qed.

Lemma nth_tokens y (i : 'I_n) : nth blank (tokens y) i = y i.
Proof. by rewrite (nth_map i) ?size_enum_ord // nth_ord_enum. Qed.

Lemma apply_tokens b y y' : (forall i : 'I_n, renewed blank zero add scale b (tokens y) i = y' i) ->
  apply blank zero add scale b (tokens y) = tokens y'.
Proof.
move=> eqy; apply: (@eq_from_nth _ blank); rewrite size_apply !size_tokens // => i lt.
by rewrite nth_mkseq ?size_tokens // -[i]/(val (Ordinal lt)) eqy nth_tokens.
Qed.

Lemma read_tokens h y (i : 'I_n) (f : seq X -> X -> S) :
  (forall xs, weigh h xs = [seq f xs x | x <- xs]) ->
  read blank zero add scale h (tokens y) i = \big[add/zero]_(j < n | sees h i j)
    scale (f (scores blank h (tokens y) i) (score h i j (y i) (y j))) (value h (y j)).
Proof.
move=> weighE; rewrite (read_seen _ _ _ _ _ _ weighE) nth_tokens big_filter size_tokens.
rewrite -{1}[n]subn0 -[iota 0 _]/(index_iota 0 n) big_mkord.
by apply: eq_bigr => j _; rewrite nth_tokens.
Qed.

Lemma sum_scores (add' : S -> S -> S) zero' (e : X -> S) h y (i : 'I_n) :
  foldr add' zero' [seq e x | x <- scores blank h (tokens y) i] =
  \big[add'/zero']_(j < n | sees h i j) e (score h i j (y i) (y j)).
Proof.
rewrite foldrE /scores -map_comp big_map size_tokens big_filter -{1}[n]subn0.
rewrite -[iota 0 _]/(index_iota 0 n) big_mkord.
by apply: eq_bigr => j _ /=; rewrite !nth_tokens.
Qed.

End Tokens.

(* --- linearised attention --- *)

Section LinearAttention.

Import GRing.Theory LinearAttention.
Local Open Scope ring_scope.

Variables (R : comRingType) (d a : nat).

(* Scores <W^Q y_i, W^K y_j> are the weights of the values W^V y_j; the map of a token has the
   output matrices, and the residual connection or none. *)
Definition linear_head (w : head R d a) : Transformer.head 'cV[R]_d R R 'cV[R]_a :=
  Transformer.Head full (fun _ _ x y => dot (query w *m x) (key w *m y)) (@linear R)
    (fun y => value w *m y).
Definition linear_block (residual : bool) (heads : seq (head R d a)) :
    Transformer.block 'cV[R]_d R R 'cV[R]_a :=
  Transformer.Block [seq linear_head w | w <- heads]
    (fun x vs => (if residual then x else 0) +
       \sum_(p <- zip heads vs) output p.1 *m p.2).

(* A net of LinearAttention.v, with residual connections or without, is a transformer. *)
Theorem linear_transformer n residual layers (x : 'I_n -> 'cV[R]_d) :
  Transformer.net 0 0 +%R *:%R [seq linear_block residual heads | heads <- layers] (tokens x) =
  tokens (LinearAttention.net residual layers x).
Proof.
have step heads y : Transformer.apply 0 0 +%R *:%R (linear_block residual heads) (tokens y) =
    tokens (layer residual heads y).
  apply: apply_tokens => i; rewrite /renewed nth_tokens /= /layer; congr (_ + _).
  rewrite -map_comp -[X in zip X _]map_id zip_map big_map; apply: eq_bigr => w _ /=.
  rewrite (read_tokens _ _ _ _ _ _ (f := fun _ => id)) => [|xs]; last by rewrite map_id.
  by congr (_ *m _); apply: eq_bigr.
by elim: layers x => //= heads rest IH x; rewrite step IH.
Qed.

End LinearAttention.

(* --- softmax attention over Coq's real numbers --- *)

Section RealVectors.

Import Reals Softmax.
Local Open Scope R_scope.

(* Vectors of d real numbers, which can be added and scaled. *)
Definition vector d : Type := {ffun 'I_d -> R}.
Definition vector0 d : vector d := [ffun=> 0].
Definition vector_add d (u v : vector d) : vector d := [ffun k => u k + v k].
Definition vector_scale d (c : R) (v : vector d) : vector d := [ffun k => c * v k].

(* A block of any heads, its transformers, and the vectors of the rows of a matrix. *)
Definition real_block d : Type := Transformer.block (vector d) R R (vector d).
Definition real_net d : seq (real_block d) -> seq (vector d) -> seq (vector d) :=
  Transformer.net (vector0 d) (vector0 d) (@vector_add d) (@vector_scale d).
Definition rows n d (X : mat n d) : seq (vector d) := tokens (fun i => [ffun k => X i k]).

(* Weights of softmax. *)
Definition exponentials : seq R -> seq R := fractions 0 Rplus Rdiv exp.

Lemma vector_sum d I (s : seq I) P (F : I -> vector d) k :
  (\big[@vector_add d/vector0 d]_(i <- s | P i) F i) k = \big[Rplus/0]_(i <- s | P i) F i k.
Proof.
by elim/big_rec2: _ => [|i x y _ <-]; rewrite ffunE.
Qed.

(* What a head of softmax reads of the rows of a matrix. *)
Lemma read_rows d n (h : Transformer.head (vector d) R R (vector d)) (X : mat n d) (i : 'I_n) k :
  weigh h = exponentials ->
  let s (j : 'I_n) := score h i j [ffun k => X i k] [ffun k => X j k] in
  read (vector0 d) (vector0 d) (@vector_add d) (@vector_scale d) h (rows X) i k =
  \big[Rplus/0]_(j < n | sees h i j)
    (exp (s j) / (\big[Rplus/0]_(m < n | sees h i m) exp (s m)) *
     Transformer.value h [ffun k => X j k] k).
Proof.
move=> weighE s; rewrite (read_tokens _ _ _ _ _ _ (f := fun xs x =>
  exp x / foldr Rplus 0 [seq exp y | y <- xs])) => [|xs]; last by rewrite weighE.
by rewrite vector_sum sum_scores; apply: eq_bigr => j _; rewrite ffunE.
Qed.

(* Logits are scores, and each row times W_V W_O is a value; the map of a token adds up the
   heads. *)
Definition bilinear d (A : mat d d) (x y : vector d) : R :=
  \big[Rplus/0]_(k < d) ((\big[Rplus/0]_(l < d) (x l * A l k)) * y k).
Definition softmax_head d (w : nat) (h : Softmax.head d) :
    Transformer.head (vector d) R R (vector d) :=
  Transformer.Head full
    (fun _ _ x y => (bilinear (qk h) x y + \big[Rplus/0]_(k < d) (y k * bias h k)) / sqrt (INR w))
    exponentials (fun y : vector d => [ffun k => \big[Rplus/0]_(l < d) (y l * value h l k)]).
Definition softmax_block d w H (heads : 'I_H -> Softmax.head d) : real_block d :=
  Transformer.Block [seq softmax_head w (heads h) | h <- enum 'I_H]
    (fun _ vs => \big[@vector_add d/vector0 d]_(v <- vs) v).

(* A net of Softmax.v, of any number of heads in each layer, is a transformer on the rows of the
   tokens' matrix. *)
Theorem softmax_transformer n d w (H : nat -> nat) (heads : forall l, 'I_(H l) -> Softmax.head d)
    (X : Softmax.mat n d) L :
  real_net [seq softmax_block w (heads l) | l <- iota 0 L] (rows X) =
  rows (Softmax.net w heads X L).
Proof.
elim: L => [//|L IH]; rewrite -addn1 iotaD map_cat addn1.
apply: (etrans (net_cat _ _ _ _ _ _ _)).
rewrite [Transformer.net _ _ _ _ _ (rows X)]IH; set Y := Softmax.net w heads X L.
apply: apply_tokens => i; apply/ffunP => k.
rewrite /renewed /= ffunE vector_sum -map_comp big_map big_enum /attention.
apply: eq_bigr => h _ /=; rewrite read_rows //= /mul.
under [RHS]eq_bigr => l _ do rewrite big_distrl.
rewrite exchange_big; apply: eq_bigr => j _; rewrite ffunE sum_scale.
apply: eq_bigr => l _; rewrite ffunE -Rmult_assoc; congr (_ * _ * _).
rewrite /softmax /logits /bilinear /mul /tr.
congr (exp _ / _); last (apply: eq_bigr => m _; congr exp);
  congr ((_ + _) / _); apply: eq_bigr => p _; rewrite !ffunE //.
all: by congr (_ * _); apply: eq_bigr => q _; rewrite ffunE.
Qed.

End RealVectors.

(* --- the net that decides parity at all lengths --- *)

Section UniformParity.

Import Reals Softmax ParityUniform.
Local Open Scope R_scope.

Definition uniform_head d (causal : bool) (h : ParityUniform.head d) :
    Transformer.head (vector d) R R (vector d) :=
  Transformer.Head (if causal then Transformer.causal else full)
    (fun _ _ => bilinear (qk h))
    exponentials (fun y : vector d => [ffun k => \big[Rplus/0]_(l < d) (y l * value h l k)]).

(* One head with a residual connection. *)
Definition uniform_block d causal (h : ParityUniform.head d) : real_block d :=
  Transformer.Block [:: uniform_head causal h] (fun x vs => vector_add x (seq.head (vector0 d) vs)).

Definition uniform_embed d (T : ParityUniform.net d) (j : nat) (t : token) : vector d :=
  [ffun k => token_vector T t k + place_vector T j k].

(* The text of a word, and the linear read-out at its last token. *)
Definition text (w : seq bool) : seq token := Start :: rcons (map Bit w) End.
Definition uniform_readout d (T : ParityUniform.net d) (s : seq (vector d)) : R :=
  \big[Rplus/0]_(k < d) (last (vector0 d) s k * readout T k).

Lemma attention_rows d n causal (h : ParityUniform.head d) (X : mat n d) :
  real_net [:: uniform_block causal h] (rows X) = rows (ParityUniform.attention causal h X).
Proof.
apply: apply_tokens => i; apply/ffunP => k; rewrite /renewed nth_tokens /= ffunE.
have seesE j : sees (uniform_head causal h) i j = ~~ (causal && (i < j)%nat).
  by rewrite /= /Transformer.causal; case: causal => //=; rewrite leqNgt.
have scoreE (j : 'I_n) : score (uniform_head causal h) i j [ffun k => X i k] [ffun k => X j k] =
    mul (mul X (qk h)) (tr X) i j.
  apply: eq_bigr => p _; rewrite ffunE; congr (_ * _); apply: eq_bigr => q _; by rewrite ffunE.
rewrite read_rows // ffunE [RHS]ffunE /ParityUniform.attention; congr (_ + _).
rewrite /Rdiv big_distrl big_mkcond; apply: eq_bigr => j _; rewrite seesE.
case: ifP => [unmasked|/negbFE ->]; last by rewrite /= !Rmult_0_l.
rewrite (negbTE unmasked) scoreE ffunE [RHS]/= !Rmult_assoc; congr (_ * _).
rewrite Rmult_comm; congr (_ * / _).
  by apply: eq_bigr => l _; rewrite ffunE.
rewrite big_mkcond; apply: eq_bigr => m _; rewrite seesE scoreE; by case: (_ && _).
Qed.

Lemma embedded_rows d (T : ParityUniform.net d) w :
  embedded (uniform_embed T) (text w) = rows (embedding d T w).
Proof.
have size_text : size (text w) = (size w).+2 by rewrite /= size_rcons size_map.
apply: (@eq_from_nth _ (vector0 d)) => [|j]; rewrite size_embedded size_text ?size_tokens // => lt.
rewrite (nth_embedded _ End) ?size_text //.
rewrite -[j in RHS]/(val (Ordinal lt)) nth_tokens /=; apply/ffunP => k; rewrite !ffunE.
congr (token_vector T _ k + _); rewrite /text -rcons_cons nth_rcons -[size (_ :: _)]/(size _).+1.
by rewrite size_map; case: ltnP => // le; rewrite [RHS]nth_default ?if_same //= size_map.
Qed.

(* A net of ParityUniform.v, two layers with a causal mask or none, is a transformer, read at the
   last token of a text. *)
Theorem uniform_transformer d (T : ParityUniform.net d) causal w :
  uniform_readout T (transformer (vector0 d) (vector0 d) (@vector_add d) (@vector_scale d)
    (uniform_embed T) [:: uniform_block causal (layer1 T); uniform_block causal (layer2 T)]
    (text w)) =
  ParityUniform.output T causal w.
Proof.
rewrite /transformer embedded_rows -cat1s net_cat.
rewrite [Transformer.net _ _ _ _ [:: _] (rows _)]attention_rows.
rewrite [Transformer.net _ _ _ _ _ _]attention_rows /output /uniform_readout.
apply: eq_bigr => k _; congr (_ * _); rewrite -nth_last size_tokens.
by rewrite -[_.-1]/(val (ord_max : 'I_(size w).+2)) nth_tokens ffunE.
Qed.

(* One transformer of two blocks, softmax with a causal mask or none, decides the parity of words of
   any length, by a margin of 7/10. *)
Corollary parity_uniform_transformer causal w (T := uniform_net 4)
    (m := fraction margin_value.1 margin_value.2) :
  let answer := uniform_readout T (transformer (vector0 12) (vector0 12) (@vector_add 12)
    (@vector_scale 12) (uniform_embed T)
    [:: uniform_block causal (layer1 T); uniform_block causal (layer2 T)] (text w)) in
  if odd (ParityUniform.ones w) then answer <= - m else m <= answer.
Proof. by rewrite uniform_transformer; have [_] := parity_uniform; apply. Qed.

End UniformParity.

(* --- causal masks --- *)

Definition causal_masks T X S V (bs : seq (block T X S V)) : Prop :=
  forall b h i j, List.In b bs -> List.In h (heads b) -> sees h i j -> j <= i.

Section CausalMasks.

Variables (A T X S V : Type) (blank : T) (zero : V) (add : V -> V -> V) (scale : S -> V -> V).
Variable embed : nat -> A -> T.
Implicit Types (b : block T X S V) (bs : seq (block T X S V)).
Local Notation apply := (apply blank zero add scale).
Local Notation net := (net blank zero add scale).
Local Notation transformer := (transformer blank zero add scale embed).

Lemma apply_causal b s t : causal_masks [:: b] ->
  take (size s) (apply b (s ++ t)) = apply b s.
Proof.
move=> past; apply: (@eq_from_nth _ blank) => [|i]; rewrite size_take_min !size_apply size_cat
  (minn_idPl (leq_addr _ _)) // => lt.
have cat_ k : i < size s + k by rewrite (leq_trans lt) ?leq_addr.
rewrite nth_take // !nth_mkseq ?size_cat // /renewed nth_cat lt; congr renew.
have: forall h, List.In h (heads b) -> forall i j, sees h i j -> j <= i.
  by move=> h hb k j; apply: (past b); rewrite //=; left.
elim: (heads b) => //= h hs IH masks; rewrite IH => [|k ks]; last by apply: masks; right.
congr (_ :: _); have := masks h (or_introl erefl) => pasth.
by rewrite read_causal ?size_cat // [RHS]read_causal // takel_cat.
Qed.

Lemma net_causal bs s t : causal_masks bs -> take (size s) (net bs (s ++ t)) = net bs s.
Proof.
elim: bs s t => [|b bs IH] s t past /=; first by rewrite take_size_cat.
have pastb : causal_masks [:: b] by move=> c h i j [<-|//]; apply: past; left.
have := apply_causal s t pastb; set u := apply b (s ++ t) => eqs.
rewrite -[u](cat_take_drop (size s)) eqs -{1}(size_apply blank zero add scale b s) IH //.
by move=> c h i j cb; apply: past; right.
Qed.

(* A transformer whose masks are causal is a causal map, so that what Amnesia.v says of causal maps
   is true of it. *)
Theorem causal_transformer bs : causal_masks bs -> Amnesia.causal (transformer bs).
Proof.
move=> past w w'; rewrite /transformer size_net size_embedded; split=> //.
have -> : embedded embed (w ++ w') = embedded embed w ++
    [seq embed p.1 p.2 | p <- zip (iota (size w) (size w')) w'].
  by rewrite /embedded size_cat iotaD zip_cat ?size_iota // map_cat.
by rewrite -[in take _](size_embedded embed w) net_causal.
Qed.

End CausalMasks.

(* Any transformer with causal masks forgets the tokens whose states have collapsed: the distance of
   two last states is at most the sum of two diameters. *)
Corollary transformer_amnesia (R : realFieldType) (A X S V : Type) (T : eqType) (blank : T)
    (zero : V) (add : V -> V -> V) (scale : S -> V -> V) (embed : nat -> A -> T)
    (bs : seq (block T X S V)) (dist : T -> T -> R) (shared u v : seq A) :
  let F := transformer blank zero add scale embed bs in
  Amnesia.pseudometric dist -> causal_masks bs -> 0 < size shared ->
  (dist (last blank (F (shared ++ u))) (last blank (F (shared ++ v))) <=
   Amnesia.diameter dist (Amnesia.states_from F shared u) +
   Amnesia.diameter dist (Amnesia.states_from F shared v))%R.
Proof.
by move=> F D past some; apply: Amnesia.causal_amnesia => //; apply: causal_transformer.
Qed.

Section AmnesiaNets.

Import GRing.Theory Amnesia.
Local Open Scope ring_scope.

Variables (R : realFieldType) (d : nat).

(* Attention to the tokens up to the own one, with weights of any kind. *)
Definition amnesia_head (b : Amnesia.block R d) : Transformer.head 'rV[R]_d R R 'rV[R]_d :=
  Transformer.Head Transformer.causal (fun _ _ x y => ((x *m query b) *m (y *m key b)^T) 0 0)
    (weigh b) (fun y => y *m value b).
Definition amnesia_block (b : Amnesia.block R d) : Transformer.block 'rV[R]_d R R 'rV[R]_d :=
  Transformer.Block [:: amnesia_head b]
    (fun x vs => let h := seq.head 0 vs + (if residual b then x else 0) in
       if mlp b then h + map_mx (Num.max 0) (h *m inner b) *m outer b else h).

Definition amnesia_embed (letters places : nat -> 'rV[R]_d) (j a : nat) : 'rV[R]_d :=
  letters a + places j.

Lemma amnesia_read b (s : seq 'rV[R]_d) i : (i < size s)%N ->
  read 0 0 +%R *:%R (amnesia_head b) s i =
  (\sum_(p <- zip (weigh b [seq (nth 0 s i *m query b *m (y *m key b)^T) 0 0 | y <- take i.+1 s])
     (take i.+1 s)) p.1 *: p.2) *m value b.
Proof.
move=> lt.
have takeE : take i.+1 s = [seq nth 0 s j | j <- iota 0 i.+1].
  by rewrite map_nth_iota0.
rewrite read_sum /weights /scores /seen seen_causal // takeE -map_comp.
rewrite zip_mapr big_map mulmx_suml.
by apply: eq_bigr => p _; rewrite scalemxAl.
Qed.

Lemma masked_apply b (s : seq 'rV[R]_d) :
  Transformer.apply 0 0 +%R *:%R (amnesia_block b) s = causal_layer (masked b) s.
Proof.
apply: (@eq_from_nth _ 0) => [|i]; rewrite size_apply ?size_causal_layer // => lt.
rewrite nth_mkseq // (nth_map [::]) ?size_map ?size_iota // (nth_map 0%N) ?size_iota //.
rewrite nth_iota // add0n /renewed /masked /apply_block -nth_last size_takel // nth_take //.
by rewrite [[seq _ | _ <- _]]/= amnesia_read.
Qed.

(* A net of Amnesia.v, of any weights, residual connections and ReLU blocks, is a transformer. *)
Theorem amnesia_transformer letters places blocks w :
  Transformer.transformer 0 0 +%R *:%R (amnesia_embed letters places)
    [seq amnesia_block b | b <- blocks] w =
  Amnesia.transformer letters places blocks w.
Proof.
rewrite /Transformer.transformer /transformer /causal_net.
set s := embedded _ _; set s' := causal_layer _ _.
have -> : s = s'.
  apply: (@eq_from_nth _ 0) => [|i]; rewrite size_embedded ?size_causal_layer // => lt.
  rewrite (nth_embedded _ 0%N) // (nth_map [::]) ?size_map ?size_iota //.
  rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n /amnesia_embed /embedding size_takel //.
  by rewrite -nth_last size_takel // nth_take.
by elim: blocks s' => //= b bs IH h; rewrite masked_apply IH.
Qed.

End AmnesiaNets.

(* --- comparisons of counts --- *)

Section Comparisons.

Import Order.TTheory GRing.Theory Num.Theory Caps.
Local Open Scope ring_scope.

Variables (R : realDomainType) (Q : Type) (q0 : Q).
Implicit Types (s p n : seq Q) (l : layer R Q) (t : comparison R Q).
Local Notation apply := (Transformer.apply q0 0 +%R *%R).
Local Notation net := (Transformer.net q0 0 +%R *%R).

(* A comparison is two heads whose weights are the scores, one under either mask; the map of a token
   adds them and the bias, and compares with 0. *)
Definition past_head t : Transformer.head Q R R R :=
  Transformer.Head causal (fun _ _ => past t) (@linear R) (fun _ => 1).
Definition future_head t : Transformer.head Q R R R :=
  Transformer.Head anticausal (fun _ _ => future t) (@linear R) (fun _ => 1).
Fixpoint answers (ts : seq (comparison R Q)) (q : Q) (sums : seq R) : seq bool :=
  if ts is t :: ts' then
    if sums is x :: y :: sums' then (0 <= x + y + bias t q) :: answers ts' q sums' else [::]
  else [::].
Definition comparison_block l : Transformer.block Q R R R :=
  Transformer.Block (flatten [seq [:: past_head t; future_head t] | t <- comparisons l])
    (fun q sums => update l q (answers (comparisons l) q sums)).

Lemma zone_states l p s n : zone l p s n =
  mkseq (fun i => renew l (p ++ take i s) (nth q0 s i) (drop i.+1 s ++ n)) (size s).
Proof.
elim: s p => [//|q s IH] p /=; rewrite IH /mkseq /= cats0 drop0 -[1%N]addn0 iotaDl -map_comp.
by congr cons; apply: eq_map => i /=; rewrite cat_rcons.
Qed.

Lemma read_past t s i : (i < size s)%N ->
  read q0 0 +%R *%R (past_head t) s i = total (past t (nth q0 s i)) (take i.+1 s).
Proof.
move=> lt; rewrite (@read_seen _ _ _ _ _ _ _ _ _ _ _ (fun _ => id)) => [|xs]; last first.
  by rewrite map_id.
rewrite /seen seen_causal // /total -(map_nth_iota0 q0) // big_map.
by apply: eq_bigr => j _; rewrite mulr1.
Qed.

Lemma drop_states s i : (i <= size s)%N ->
  drop i s = [seq nth q0 s j | j <- iota i (size s - i)].
Proof. by move=> le; rewrite map_nth_iota ?subnKC // -size_drop take_size. Qed.

Lemma read_future t s i : (i < size s)%N ->
  read q0 0 +%R *%R (future_head t) s i = total (future t (nth q0 s i)) (drop i s).
Proof.
move=> lt; rewrite (@read_seen _ _ _ _ _ _ _ _ _ _ _ (fun _ => id)) => [|xs]; last first.
  by rewrite map_id.
rewrite /seen (seen_anticausal (ltnW lt)) /total (drop_states (ltnW lt)) big_map.
by apply: eq_bigr => j _; rewrite mulr1.
Qed.

Lemma comparison_apply l s : apply (comparison_block l) s = Caps.apply l s.
Proof.
rewrite /Caps.apply zone_states; apply/eq_in_map => i; rewrite mem_iota => /andP[_ lt].
rewrite /renewed /= cats0 /renew; congr update.
elim: (comparisons l) => //= t ts IH; rewrite IH read_past // read_future //; congr cons.
by rewrite /holds -take_nth // -drop_nth.
Qed.

(* A net of Caps.v, over any ordered ring and states of any type, is a transformer. *)
Theorem caps_transformer (ls : seq (Caps.layer R Q)) s :
  net [seq comparison_block l | l <- ls] s = Caps.run ls s.
Proof. by elim: ls s => //= l ls IH s; rewrite comparison_apply IH. Qed.

End Comparisons.

(* --- attention that is rounded --- *)

Section Rounded.

Import Order.TTheory GRing.Theory Num.Theory Caps.
Local Open Scope ring_scope.

Variables (F : realFieldType) (X Q : Type) (q0 : Q) (e : X -> F).
Hypothesis e_pos : forall x, 0 < e x.
Local Notation net := (Transformer.net q0 0 +%R *%R).

(* A head under either mask or none, whose score knows no positions: softmax if e is the
   exponential. Of what it reads, one number, the map of a token knows which of finitely many
   steps it has reached. *)
Inductive side := Past | Future | All.
Record rounded_head := RoundedHead
  { view : side; logit : Q -> Q -> X; held : Q -> F; steps : seq F }.
Definition mask (v : side) := match v with Past => causal | Future => anticausal | All => full end.
Definition head_of (h : rounded_head) : Transformer.head Q X F F :=
  Transformer.Head (mask (view h)) (fun _ _ => logit h) (fractions 0 +%R (fun x y => x / y) e)
    (held h).
Definition rounded_block (l : seq rounded_head * (Q -> seq bool -> Q)) :
    Transformer.block Q X F F :=
  Transformer.Block [seq head_of h | h <- l.1]
    (fun q vs => l.2 q (flatten [seq [seq step <= p.2 | step <- steps p.1] | p <- zip l.1 vs])).

(* Each step is a comparison of counts. *)
Definition step_comparison (h : rounded_head) (step : F) : comparison F Q :=
  let f q q' := e (logit h q q') * (held h q' - step) in
  match view h with
  | Past => Comparison f (fun _ _ => 0) (fun _ => 0)
  | Future => Comparison (fun _ _ => 0) f (fun _ => 0)
  | All => Comparison f f (fun q => - f q q)
  end.
Definition rounded_layer (l : seq rounded_head * (Q -> seq bool -> Q)) : layer F Q :=
  Layer (flatten [seq [seq step_comparison h step | step <- steps h] | h <- l.1]) l.2.

Lemma total_zero (s : seq Q) : total (fun _ => 0 : F) s = 0.
Proof. exact: big1. Qed.

Lemma step_holds h s i step : (i < size s)%N ->
  (step <= read q0 0 +%R *%R (head_of h) s i) =
  holds (step_comparison h step) (take i s) (nth q0 s i) (drop i.+1 s).
Proof.
move=> lt; rewrite (@read_seen _ _ _ _ _ _ _ _ _ _ _
  (fun xs x => e x / foldr +%R 0 [seq e y | y <- xs])) //.
pose states := [seq nth q0 s j | j <- seen (head_of h) (size s) i].
set q := nth q0 s i; pose w q' := e (logit h q q').
have -> : foldr +%R 0 [seq e y | y <- scores q0 (head_of h) s i] = \sum_(x <- states) w x.
  by rewrite foldrE /states !big_map.
set D := \sum_(x <- states) w x.
have -> : \sum_(j <- seen (head_of h) (size s) i) e (score (head_of h) i j q (nth q0 s j)) / D *
    Transformer.value (head_of h) (nth q0 s j) = (\sum_(x <- states) w x * held h x) / D.
  by rewrite big_map mulr_suml; apply: eq_bigr => j _; rewrite mulrAC.
have own : has xpredT states.
  rewrite has_map has_predT; case E: (view h); rewrite /seen /= E /=.
  - by rewrite seen_causal.
  - by rewrite (seen_anticausal (ltnW lt)) size_iota subn_gt0.
  - by rewrite seen_full size_iota (leq_ltn_trans _ lt).
rewrite /D {D} threshold_of_average; last first.
  case: states own => //= x xs _; rewrite big_cons ltr_pwDl ?e_pos // sumr_ge0 // => y _.
  exact/ltW/e_pos.
rewrite /holds -take_nth // -drop_nth // /step_comparison; congr (0 <= _).
rewrite /states /seen /=; case: (view h) => /=.
- by rewrite seen_causal // map_nth_iota0 // total_zero !addr0.
- by rewrite (seen_anticausal (ltnW lt)) -(drop_states _ (ltnW lt)) total_zero add0r addr0.
rewrite seen_full map_nth_iota0 // take_size -[in LHS](cat_take_drop i s).
rewrite -[LHS]/(total _ (_ ++ _)) total_cat (take_nth q0 lt) total_rcons addrAC.
by rewrite -[total _ (take i s) + _ + _]/(_ + w q * (held h q - step) - _) addrK.
Qed.

Lemma rounded_apply l (s : seq Q) :
  Transformer.apply q0 0 +%R *%R (rounded_block l) s = Caps.apply (rounded_layer l) s.
Proof.
rewrite /Caps.apply (zone_states q0); apply/eq_in_map => i; rewrite mem_iota => /andP[_ lt].
rewrite /renewed /= cats0 /renew; congr (l.2 _ _); rewrite map_flatten -map_comp -map_comp.
rewrite -[X in zip X _]map_id zip_map -map_comp; congr flatten; apply: eq_map => h /=.
by rewrite -map_comp; apply: eq_map => step /=; rewrite step_holds.
Qed.

(* Transformers whose attention is rounded are nets of Caps.v: a step is a comparison. *)
Theorem rounded_transformer ls (s : seq Q) :
  net [seq rounded_block l | l <- ls] s = Caps.run [seq rounded_layer l | l <- ls] s.
Proof. by elim: ls s => //= l ls IH s; rewrite rounded_apply IH. Qed.

(* L blocks of rounded attention, with softmax or other positive weights under either mask or none
   and no positions, do not decide the words of m >= 2 L blocks of letters. *)
Corollary rounded_blocks_beyond ls embed pre post (read : Q -> bool) m :
  (0 < m)%N -> ((size ls).*2 <= m)%N ->
  exists w, read (last q0 (net [seq rounded_block l | l <- ls] (pre ++ map embed w ++ post)))
    != Caps.block_word m w.
Proof.
move=> m0 le; have [|w ne] := @blocks_beyond_layers F Q [seq rounded_layer l | l <- ls] embed pre
  post read q0 m m0; first by rewrite size_map.
by exists w; rewrite rounded_transformer.
Qed.

(* Where L blocks of rounded attention end in a collapse, nothing above them decides the words of
   m >= 2 L blocks of letters. *)
Corollary rounded_collapse_caps ls embed pre post (rest : seq Q -> bool) m :
  (forall w, (0 < size w)%N ->
     Caps.collapsed (net [seq rounded_block l | l <- ls] (pre ++ map embed w ++ post))) ->
  (0 < m)%N -> ((size ls).*2 <= m)%N ->
  exists w, rest (net [seq rounded_block l | l <- ls] (pre ++ map embed w ++ post))
    != Caps.block_word m w.
Proof.
move=> one m0 le; have [w w0|||w ne] := @collapse_caps_depth F Q [seq rounded_layer l | l <- ls]
  embed pre post rest m.
- by rewrite /states -rounded_transformer; apply: one.
- by [].
- by rewrite size_map.
by exists w; rewrite rounded_transformer.
Qed.

End Rounded.

(* --- averages --- *)

Section EqualStates.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* Weights whose sum is one. *)
Definition averages (R : ringType) X (weigh : seq X -> seq R) : Prop := forall xs,
  (0 < size xs)%N -> size (weigh xs) = size xs /\ \sum_(w <- weigh xs) w = 1.

Lemma fractions_average (F : realFieldType) X (e : X -> F) : (forall x, 0 < e x) ->
  averages (fractions 0 +%R (fun x y => x / y) e).
Proof.
move=> e0 xs some; rewrite /fractions size_map; split=> //.
rewrite big_map -mulr_suml foldrE big_map divff // gt_eqF //.
case: xs some => // x xs _; rewrite big_cons ltr_pwDl // sumr_ge0 // => y _.
exact: ltW.
Qed.

(* Blocks whose heads average, of any scores, values and token maps, and of masks under which each
   position sees some position, keep equal states equal: n states q become n of one function of q, whatever n is. *)
Theorem equal_states (R : ringType) (V : lmodType R) (T X : Type) (blank : T)
    (bs : seq (block T X R V)) n q :
  (forall b h, List.In b bs -> List.In h (heads b) -> averages (weigh h) /\
     forall i, (i < n)%N -> exists2 j, (j < n)%N & sees h i j) ->
  Transformer.net blank 0 +%R *:%R bs (nseq n q) =
  nseq n (foldl (fun q b => renew b q [seq value h q | h <- heads b]) q bs).
Proof.
elim: bs q => //= b bs IH q sound.
rewrite -IH => [|c h cb]; last by apply: sound; right.
congr Transformer.net; apply: (@eq_from_nth _ blank); rewrite size_apply ?size_nseq // => i lt.
rewrite nth_mkseq ?size_nseq // nth_nseq lt /renewed nth_nseq lt; congr renew.
have := fun h => sound b h (or_introl erefl); elim: (heads b) => //= h hs IHh good.
rewrite IHh => [|k ks]; last by apply: good; right.
congr cons; have [avg /(_ i lt) [j jn ij]] := good h (or_introl erefl).
have some : (0 < size (scores blank h (nseq n q) i))%N.
  by rewrite size_map size_filter -has_count; apply/hasP; exists j; rewrite // mem_iota size_nseq.
have := avg _ some; rewrite -/(weights _ _ _ _) read_sum.
set ws := weights _ _ _ _ => -[size_w sum_w]; rewrite -[RHS]scale1r -sum_w.
have: all (gtn n) (seen h (size (nseq n q)) i).
  by apply/allP => k; rewrite seenP size_nseq => /andP[].
rewrite size_map in size_w; elim: ws (seen _ _ _) size_w {sum_w} => [|w xs IHw] [|k ks] //=.
  by rewrite !big_nil scale0r.
move=> [eq_size] /andP[kn all_n]; rewrite !big_cons scalerDl /= nth_nseq.
by rewrite (kn : (k < n)%N) IHw.
Qed.

End EqualStates.

(* --- one layer for parity --- *)

Section OneLayer.

Import Order.TTheory GRing.Theory Num.Theory Parity.
Local Open Scope ring_scope.

Variables (F : realFieldType) (n : nat).
Local Notation bits := {ffun 'I_n -> bool}.

(* The tokens: n bits, and the query token behind them. *)
Definition bit_text (x : bits) : seq (option bool) := rcons (tokens (fun i => Some (x i))) None.

(* Weights e(score) as fractions of their sum. *)
Definition shares X (e : X -> F) : seq X -> seq F :=
  Transformer.fractions 0 +%R (fun x y => x / y) e.

Section Head.

Variables (T X : Type) (V : lmodType F) (blank : T) (embed : nat -> option bool -> T).
Local Notation read := (read blank 0 +%R *:%R).

(* A head as Parity.v has them: e(score) at the query token is the weight of a place and a bit, and
   the read-out of a value the value. *)
Definition parity_head (h : Transformer.head T X F V) (e : X -> F) (readout : V -> F) :
    Parity.head F n :=
  let query := embed n None in
  Parity.Head (fun i b => e (score h n i query (embed i (Some b))))
    (fun i b => readout (Transformer.value h (embed i (Some b)))) (e (score h n n query query))
    (readout (Transformer.value h query)).

(* What is read of a head at the query token is a mean of Parity.v, for all scores and values and
   every e, if the query token sees all tokens. *)
Theorem parity_read (h : Transformer.head T X F V) e (readout : {scalar V}) x :
  (forall i, (i <= n)%N -> sees h n i) -> weigh h =1 shares e ->
  readout (read h (embedded embed (bit_text x)) n) = Parity.mean (parity_head h e readout) x.
Proof.
move=> sees_all weighE; set s := embedded _ _.
have size_text : size (bit_text x) = n.+1 by rewrite size_rcons size_tokens.
have size_s : size s = n.+1 by rewrite size_embedded.
have last_s : nth blank s n = embed n None.
  by rewrite (nth_embedded _ None) ?size_text // nth_rcons size_tokens ltnn eqxx.
have bit_s (i : 'I_n) : nth blank s i = embed i (Some (x i)).
  rewrite (nth_embedded _ None) ?size_text 1?ltnW ?ltnS // nth_rcons size_tokens ltn_ord.
  by rewrite nth_tokens.
have seenE : seen h (size s) n = iota 0 n.+1.
  by rewrite size_s; apply/all_filterP/allP => j; rewrite mem_iota ltnS => /sees_all.
have sum_all (G : nat -> F) : \sum_(j <- iota 0 n.+1) G j = \sum_(i < n) G i + G n.
  by rewrite -[iota _ _]/(index_iota 0 n.+1) big_mkord big_ord_recr.
rewrite (@read_seen _ _ _ _ _ _ _ _ _ _ _ (fun xs y => e y / foldr +%R 0 [seq e z | z <- xs])) //.
rewrite linear_sum seenE /Parity.mean /Parity.total.
have -> : foldr +%R 0 [seq e z | z <- scores blank h s n] =
    \sum_(i < n) weight (parity_head h e readout) i (x i) + query_weight (parity_head h e readout).
  rewrite foldrE /scores !big_map seenE sum_all last_s; congr (_ + _).
  by apply: eq_bigr => i _; rewrite bit_s.
set D := \sum_(i < n) _ + _; rewrite mulrDl mulr_suml sum_all last_s; congr (_ + _).
  by apply: eq_bigr => i _; rewrite linearZ /= bit_s mulrAC.
by rewrite linearZ /= mulrAC.
Qed.

End Head.

Lemma last_read T X (V : lmodType F) blank embed (b : Transformer.block T X F V) x :
  last blank (transformer blank 0 +%R *:%R embed [:: b] (bit_text x)) =
  renew b (embed n None)
    [seq read blank 0 +%R *:%R h (embedded embed (bit_text x)) n | h <- heads b].
Proof.
have size_s : size (embedded embed (bit_text x)) = n.+1.
  by rewrite size_embedded size_rcons size_tokens.
rewrite -nth_last size_apply size_s nth_mkseq ?size_s // /renewed; congr renew.
by rewrite (nth_embedded _ None) ?size_rcons ?size_tokens // nth_rcons size_tokens ltnn eqxx.
Qed.

(* One block decides parity: at the query token, whose heads see all tokens with weights
   e(score)/sum for some positive e, a read-out that is linear in what the heads read, and of any
   kind in the state of the query token, is positive on the words of one parity alone. States
   and scores are of any types, values of any vector space. *)
Definition block_decides (target : bool) (H : nat) : Prop :=
  exists (T X : Type) (V : lmodType F) (blank : T) (embed : nat -> option bool -> T)
    (heads : H.-tuple (Transformer.head T X F V)) (renew : T -> seq V -> T)
    (e : 'I_H -> X -> F) (out : T -> F) (own : T -> F) (readout : 'I_H -> {scalar V}),
  [/\ forall h i, (i <= n)%N -> sees (tnth heads h) n i,
      forall h, (forall x, 0 < e h x) /\ weigh (tnth heads h) =1 shares (e h),
      forall t (v : H.-tuple V), out (renew t v) = \sum_h readout h (tnth v h) + own t
    & forall x, (0 < out (last blank (transformer blank 0 +%R *:%R embed
        [:: Transformer.Block heads renew] (bit_text x)))) = (Thoughts.parity x == target)].

(* One block of H heads decides the parity of n bits at a query token, for some embeddings, scores,
   positive weights e(score)/sum, values and read-out, if and only if H >= n. *)
Theorem parity_transformer target H : block_decides target H <-> (n <= H)%N.
Proof.
split.
  case=> T [X [V [blank [embed [heads [renew [e [out [own [readout]]]]]]]]]].
  case=> sees_all weighE out_linear right; apply: (@parity_heads_at_least F n target H).
  exists (fun h => parity_head embed (tnth heads h) (e h) (readout h)), (own (embed n None)).
  split=> [h|x]; first by have [e0 _] := weighE h; split=> [i b|]; apply: e0.
  have := out_linear (embed n None) (map_tuple (fun h => read blank 0 +%R *:%R h
    (embedded embed (bit_text x)) n) heads); rewrite -right last_read /= => ->.
  congr (0 < _ + _); apply: eq_bigr => h _; rewrite tnth_map.
  by have [_ wE] := weighE h; rewrite (parity_read _ _ _ _ (sees_all h) wE).
move=> enough; have : decided_by_bits F n target H by have [_ [_]] := parity_heads F n target H;
  rewrite /parity_heads_value bin_of_natK; apply.
case=> net [c [pos right]].
pose T : Type := (nat * option bool * F)%type.
pose embed i b : T := (i, b, 0).
pose wt (h : 'I_H) (q : T) : F := match q with
  | (i, Some b, _) => if insub i is Some j then weight (net h) j b else 1
  | _ => query_weight (net h) end.
pose vl (h : 'I_H) (q : T) : F^o := match q with
  | (i, Some b, _) => if insub i is Some j then value (net h) j b else 0
  | _ => query_value (net h) end.
pose e (x : F) : F := if 0 < x then x else 1.
pose head_ (h : 'I_H) := Transformer.Head full (fun _ _ _ q => wt h q) (shares e) (vl h).
exists T, F, F^o, (0%N, None, 0), embed, [tuple head_ h | h < H].
exists (fun t vs => (t.1, \sum_(v <- vs) (v : F) + c)), (fun=> e), (fun t => t.2), (fun=> c).
exists (fun=> idfun); split=> [h i _|h|t v|x]; rewrite ?tnth_mktuple //.
- by split=> // y; rewrite /e; case: ifP; rewrite ?ltr01.
- by rewrite /= big_tuple.
rewrite -right last_read /=; congr (0 < _ + _); rewrite -map_comp big_map big_enum.
apply: eq_bigr => h _ /=.
have wE : weigh (head_ h) =1 shares e by [].
have sees_all i : (i <= n)%N -> sees (head_ h) n i by [].
have := parity_read (0%N, None, 0) embed (idfun : {scalar F^o}) x sees_all wE; rewrite /= => ->.
have [[pos_bits pos_query] _] := pos h; rewrite /Parity.mean /Parity.total /= /e pos_query.
have at_ (i : 'I_n) : insub (val i) = Some i := valK i.
congr ((_ + _) / (_ + _)); apply: eq_bigr => i _; rewrite at_ pos_bits //.
Qed.

(* Claim: least_depth/parity_heads, of a block of a transformer: the claim's number of heads. *)
Corollary parity_transformer_checked target H :
  block_decides target H <-> (nat_of_bin (parity_heads_value (bin_of_nat n)) <= H)%N.
Proof. by rewrite /parity_heads_value bin_of_natK; apply: parity_transformer. Qed.

End OneLayer.

(* --- hard attention --- *)

(* A weight is true or false; of values with such weights the sum is the first with weight true, or
   none. Such a transformer chooses. *)
Definition chosen V (weight : bool) (v : option V) : option V := if weight then v else None.
Definition first_some V (u v : option V) : option V := if u is Some _ then u else v.
Definition choosing A T X (blank : T) (embed : nat -> A -> T)
    (bs : seq (block T X bool (option T))) : seq A -> seq T :=
  transformer blank None (@first_some T) (@chosen T) embed bs.

Section HardAttention.

Import HardAttention.

Variables (disp : Order.disp_t) (S : orderType disp).

(* The weight is true at the place of the first (or last) greatest score alone. *)
Definition pick (tie : side) (xs : seq S) : seq bool :=
  let best := attend tie fst (zip xs (iota 0 (size xs))) in
  [seq omap snd best == Some k | k <- iota 0 (size xs)].

Lemma attend_map tie Y Z (f : Y -> Z) (sc : Z -> S) (xs : seq Y) :
  attend tie sc [seq f x | x <- xs] = omap f (attend tie (sc \o f) xs).
Proof.
rewrite /attend -[None in LHS]/(omap f None); elim: xs None => //= x xs IH best.
by rewrite -IH; congr foldl; case: best => //= b; case: ifP.
Qed.

Lemma attend_in tie (Y : eqType) (sc : Y -> S) (xs : seq Y) x :
  attend tie sc xs = Some x -> x \in xs.
Proof.
rewrite /attend; have: (if None : option Y is Some b then b \in xs else true) by [].
suff gen (ys : seq Y) best : foldl (better tie sc) best ys = Some x -> best = Some x \/ x \in ys.
  by move=> _ /gen [].
elim: ys best => [|y ys IH] best /=; first by left.
move=> /IH [|xys]; last by right; rewrite inE xys orbT.
rewrite /better inE; case: best => [b|]; last by case=> ->; right; rewrite eqxx.
by case: ifP => _; [case=> ->; right; rewrite eqxx | left].
Qed.

Section Read.

Variables (T : Type) (blank : T).
Local Notation read := (read blank None (@first_some T) (@chosen T)).

Lemma pick_read (h : head T S bool (option T)) tie sc s i :
  weigh h = pick tie -> Transformer.value h = Some -> (forall i j, Transformer.score h i j = sc) ->
  read h s i =
  attend tie (sc (nth blank s i)) [seq nth blank s j | j <- Transformer.seen h (size s) i].
Proof.
move=> weighE valueE scoreE; rewrite /read /weights /scores weighE valueE.
set js := Transformer.seen h _ i; set f := nth blank s; set m := size js.
have jsE : js = [seq nth 0 js k | k <- iota 0 m] by rewrite -[LHS](mkseq_nth 0).
have -> : [seq Transformer.score h i j (f i) (f j) | j <- js] = [seq sc (f i) (f j) | j <- js].
  by apply: eq_map => j; rewrite scoreE.
rewrite /pick size_map -/m; pose key k := sc (f i) (f (nth 0 js k)).
have -> : zip [seq sc (f i) (f j) | j <- js] (iota 0 m) = [seq (key k, k) | k <- iota 0 m].
  by rewrite {1}jsE -map_comp -{2}[iota 0 m]map_id zip_map.
have -> : attend tie (sc (f i)) [seq f j | j <- js] =
    omap (f \o nth 0 js) (attend tie key (iota 0 m)).
  by rewrite {1}jsE -map_comp attend_map.
rewrite attend_map {1}jsE zip_map -map_comp -[fst \o _]/key.
set best := attend tie key (iota 0 m).
have -> : omap snd (omap (fun k => (key k, k)) best) = best by case: best.
have: if best is Some k then k \in iota 0 m else true.
  by case E: best => //; apply: attend_in E.
case: best => [b|_] /=; last by elim: (iota 0 m).
elim: (iota 0 m) => //= k ks IH; rewrite inE -[Some b == Some k]/(b == k).
by case: eqP => [->|_ /IH].
Qed.

End Read.

(* A layer of BothWays.v, with views and sides for ties, as a block; one of HardAttention.v. *)
Definition view_head A (f : BothWays.net S A) l (h : BothWays.heads f) :
    head (BothWays.state f) S bool (option (BothWays.state f)) :=
  Transformer.Head (BothWays.sees (BothWays.view_of l h)) (fun _ _ => BothWays.score l h)
    (pick (BothWays.tie_of l h)) Some.
Definition view_block A (f : BothWays.net S A) l :
    block (BothWays.state f) S bool (option (BothWays.state f)) :=
  Transformer.Block [seq view_head l h | h <- enum (BothWays.heads f)]
    (fun own vs => BothWays.join l own [ffun h => nth None vs (enum_rank h)]).
Definition sided_head m tie A (f : net S A) l (h : heads f) :
    head (state f) S bool (option (state f)) :=
  Transformer.Head (if m is strict then strictly_causal else causal) (fun _ _ => score l h)
    (pick tie) Some.
Definition sided_block m tie A (f : net S A) l : block (state f) S bool (option (state f)) :=
  Transformer.Block [seq sided_head m tie l h | h <- enum (heads f)]
    (fun own vs => join l own [ffun h => nth None vs (enum_rank h)]).

(* The states of a net of BothWays.v are those of a transformer. *)
Theorem both_ways_transformer A (f : BothWays.net S A) (text : seq (option A)) L :
  choosing (BothWays.embed f None) (fun _ => BothWays.embed f)
    [seq view_block f l | l <- iota 0 L] text =
  mkseq (BothWays.hold f text L) (size text).
Proof.
rewrite /choosing; set blank := BothWays.embed f None; elim: L => [|L IH].
  apply: (@eq_from_nth _ blank) => [|i]; rewrite size_embedded ?size_mkseq // => lt.
  by rewrite (nth_embedded _ None) // nth_mkseq.
rewrite -addn1 iotaD map_cat addn1 /Transformer.transformer net_cat.
rewrite [Transformer.net _ _ _ _ _ (embedded _ _)]IH /=; set s := mkseq _ _.
have size_s : size s = size text by exact: size_mkseq.
apply: (@eq_from_nth _ blank); rewrite size_apply !size_mkseq // => i lt.
rewrite !nth_mkseq // ?size_s // /renewed /= nth_mkseq //; congr BothWays.join.
apply/ffunP => h; rewrite !ffunE -map_comp (nth_map h) -?cardE ?ltn_ord // nth_enum_rank /=.
rewrite (@pick_read _ _ _ (BothWays.tie_of L h) (BothWays.score L h)) // size_s nth_mkseq //.
congr attend; apply/eq_in_map => j; rewrite seenP => /andP[_ jt]; by rewrite nth_mkseq.
Qed.

Lemma seen_strictly n i : i <= n -> [seq j <- iota 0 n | strictly_causal i j] = iota 0 i.
Proof.
case: i => [_|i /seen_causal //].
by rewrite (eq_filter (a2 := pred0)) ?filter_pred0.
Qed.

(* The states of a net of HardAttention.v at the positions of a word and the one behind it, where
   it is read, are those of a transformer. *)
Theorem hard_transformer A (f : HardAttention.net S A) tie m (w : seq A) L :
  choosing (HardAttention.embed f None) (fun _ => HardAttention.embed f)
    [seq sided_block m tie f l | l <- iota 0 L]
    (rcons (map Some w) None) =
  mkseq (HardAttention.hold tie m f w L) (size w).+1.
Proof.
rewrite /choosing; set blank := embed f None; set text := rcons _ _.
have size_text : size text = (size w).+1 by rewrite size_rcons size_map.
elim: L => [|L IH].
  apply: (@eq_from_nth _ blank) => [|i]; rewrite size_embedded ?size_mkseq // => lt.
  rewrite (nth_embedded _ None) // nth_mkseq -?size_text //= /letter /text nth_rcons size_map.
  by case: ltnP => // le; rewrite nth_default ?size_map // if_same.
rewrite -addn1 iotaD map_cat addn1 /Transformer.transformer net_cat.
rewrite [Transformer.net _ _ _ _ _ (embedded _ _)]IH /=; set s := mkseq _ _.
have size_s : size s = (size w).+1 by exact: size_mkseq.
apply: (@eq_from_nth _ blank); rewrite size_apply !size_mkseq // => i lt.
rewrite !nth_mkseq // ?size_s // /renewed /= nth_mkseq //; congr join.
apply/ffunP => h; rewrite !ffunE -map_comp (nth_map h) -?cardE ?ltn_ord // nth_enum_rank /=.
rewrite (@pick_read _ _ _ tie (score L h)) // size_s nth_mkseq //; congr attend.
have -> : Transformer.seen (sided_head m tie L h) (size w).+1 i = seen m i.
  by case: m {IH s size_s}; [apply: seen_strictly; apply: ltnW | apply: seen_causal].
apply/eq_in_map => j; rewrite mem_iota => /andP[_ ji]; rewrite nth_mkseq //.
by apply: leq_trans ji _; case: m {IH s size_s} => //; apply: ltnW.
Qed.

(* A word is accepted by a net of HardAttention.v by what a transformer holds at the last token. *)
Corollary hard_accepts A (f : HardAttention.net S A) tie (w : seq A) L :
  HardAttention.accepts tie f L w = HardAttention.accept (last (HardAttention.embed f None)
    (choosing (HardAttention.embed f None) (fun _ => HardAttention.embed f)
    [seq sided_block HardAttention.strict tie f l | l <- iota 0 L] (rcons (map Some w) None))).
Proof. by rewrite hard_transformer -nth_last size_mkseq nth_mkseq. Qed.

(* A word is accepted by a net of BothWays.v by what a transformer holds at the last token. *)
Corollary both_ways_accepts A (f : BothWays.net S A) (w : seq A) L :
  BothWays.accepts f L w = BothWays.accept (last (BothWays.embed f None)
    (choosing (BothWays.embed f None) (fun _ => BothWays.embed f)
      [seq view_block f l | l <- iota 0 L] (rcons (map Some w) None))).
Proof.
rewrite both_ways_transformer -nth_last size_mkseq size_rcons size_map nth_mkseq //.
Qed.

End HardAttention.

Section SelfSkip.

Import Order.TTheory GRing.Theory Num.Theory HopsSelfSkip.
Local Open Scope ring_scope.

Variables (F : realFieldType) (d w : nat) (dot : arithmetic F d) (f : HopsSelfSkip.net F d w).

(* The weight is true at the greatest score, if no other is as great. *)
Definition sole (xs : seq F) : seq bool :=
  let highest x := all (fun y => y <= x) xs in
  [seq highest x && (count highest xs == 1%N) | x <- xs].
Definition skip_head l : head (w.-tuple nat) F bool (option (w.-tuple nat)) :=
  Transformer.Head causal (fun _ _ x y => dot (query f l x) (key f l y)) sole Some.
Definition skip_block l : block (w.-tuple nat) F bool (option (w.-tuple nat)) :=
  Transformer.Block [:: skip_head l]
    (fun own vs => if seq.head None vs is Some y then update f l own y else own).

Lemma sole_chosen V (g : nat -> V) (P : pred nat) js :
  \big[@first_some V/None]_(j <- js) chosen (P j && (count P js == 1%N)) (Some (g j)) =
  omap g (if [seq j <- js | P j] is [:: j] then Some j else None).
Proof.
rewrite -size_filter; set one := _ == 1%N.
have -> : (if [seq j <- js | P j] is [:: j] then Some j else None) =
    if one then ohead [seq j <- js | P j] else None.
  by rewrite /one; case: [seq _ <- _ | _] => [|j [|k s]].
case: one; last by elim: js => [|j js IH]; rewrite ?big_nil // big_cons andbF IH.
elim: js => [|j js IH]; first by rewrite big_nil.
by rewrite big_cons IH andbT /=; case: (P j).
Qed.

Lemma skip_read blank l s i : (i < size s)%N ->
  read blank None (@first_some _) (@chosen _) (skip_head l) s i =
  omap (nth blank s) (attend (fun j => dot (query f l (nth blank s i))
    (key f l (nth blank s j))) i).
Proof.
move=> lt; pose sc j := dot (query f l (nth blank s i)) (key f l (nth blank s j)).
rewrite (@read_seen _ _ _ _ _ _ _ _ _ _ _ (fun xs x =>
  all (fun y => y <= x) xs && (count (fun x => all (fun y => y <= x) xs) xs == 1%N))) //.
rewrite /attend -sole_chosen /scores /seen seen_causal // -[iota 0 i.+1]/(iota 0 i.+1).
by apply: eq_bigr => j _; rewrite count_map !all_map; congr (chosen (_ && (_ == _)) _);
  apply: eq_count => k; rewrite /= all_map.
Qed.

(* The states of a net of HopsSelfSkip.v, in exact or rounded arithmetic, at the start token and at
   the positions of a word are those of a transformer. *)
Theorem self_skip_transformer (X : seq nat) L :
  choosing (HopsSelfSkip.embed f 0 None) (HopsSelfSkip.embed f)
    [seq skip_block l | l <- iota 0 L] (None :: map Some X) =
  mkseq (HopsSelfSkip.run dot f X L) (size X).+1.
Proof.
rewrite /choosing; set blank := embed f 0 None; set text := None :: _.
have size_text : size text = (size X).+1 by rewrite /= size_map.
elim: L => [|L IH].
  apply: (@eq_from_nth _ blank) => [|i]; rewrite size_embedded ?size_mkseq // => lt.
  by rewrite (nth_embedded _ None) // nth_mkseq -?size_text.
rewrite -addn1 iotaD map_cat addn1 /transformer net_cat.
rewrite [Transformer.net _ _ _ _ _ (embedded _ _)]IH; set s := mkseq _ _.
have size_s : size s = (size X).+1 by exact: size_mkseq.
apply: (@eq_from_nth _ blank); rewrite size_apply !size_mkseq // => i lt.
rewrite !nth_mkseq ?size_s // /renewed [heads _]/= [map _ _]/= skip_read ?size_s //.
have at_ j : (j <= i)%N -> nth blank s j = run dot f X L j.
  by move=> ji; rewrite nth_mkseq // (leq_ltn_trans ji).
have -> : attend (fun j => dot (query f L (nth blank s i)) (key f L (nth blank s j))) i =
    attend (fun j => dot (query f L (run dot f X L i)) (key f L (run dot f X L j))) i.
  rewrite /attend; congr (if _ is [:: j] then Some j else None); apply: eq_in_filter => j.
  rewrite mem_iota ltnS => /andP[_ ji]; apply: eq_in_all => k; rewrite mem_iota ltnS => /andP[_ ki].
  by rewrite !at_.
rewrite add0n at_ //=; case E: (attend _ i) => [j|] //=; rewrite at_ //.
move: E; rewrite /attend; case E: [seq _ <- _ | _] => [|k [|//]] // [<-].
have : k \in [:: k] by rewrite mem_head.
by rewrite -E mem_filter mem_iota ltnS => /and3P[].
Qed.

End SelfSkip.

(* --- instances --- *)

Section Instances.

Import GRing.Theory.
Local Open Scope ring_scope.

(* One causal head with weights 1 + score^2 as fractions of their sum, which is added. *)
Definition mean_block : block rat rat rat (rat : comRingType)^o :=
  Block [:: Head causal (fun _ _ x y => x * y)
    (fractions 0 +%R (fun x y => x / y) (fun x => 1 + x ^+ 2)) id] (fun x vs => x + seq.head 0 vs).

Definition two_means : seq nat -> seq rat :=
  transformer 0 0 +%R *:%R (fun j a => a%:R + j%:R) [:: mean_block; mean_block].

Lemma mean_block_causal : causal_masks [:: mean_block; mean_block].
Proof. by move=> b h i j [<-|[<-|//]] [<-|//]. Qed.

Example causal_transformer_met : Amnesia.causal two_means.
Proof. exact: causal_transformer mean_block_causal. Qed.

Example transformer_amnesia_met :
  let F := two_means in let shared := [:: 1%N] in let u := [:: 2%N] in let v := [:: 4%N; 0%N] in
  (Amnesia.rat_distance (last 0 (F (shared ++ u))) (last 0 (F (shared ++ v))) <=
   Amnesia.diameter Amnesia.rat_distance (Amnesia.states_from F shared u) +
   Amnesia.diameter Amnesia.rat_distance (Amnesia.states_from F shared v))%R.
Proof.
by apply: transformer_amnesia Amnesia.rat_distance_pseudometric mean_block_causal _.
Qed.

(* Two blocks make n states 12 of n states 3. *)
Example equal_states_met n :
  net 0 0 +%R *:%R [:: mean_block; mean_block] (nseq n 3%:R) = nseq n 12%:R.
Proof.
rewrite equal_states => [|b h]; first by congr nseq; apply/eqP.
move=> bs hs; split; last first.
  by move=> i lt; exists i => //; case: bs hs => [<-|[<-|//]] [<-|//]; apply: leqnn.
have pos (x : rat) : 0 < 1 + x ^+ 2.
  by rewrite Num.Theory.ltr_pwDl ?Num.Theory.ltr01 ?Num.Theory.sqr_ge0.
by case: bs hs => [<-|[<-|//]] [<-|//]; apply: fractions_average.
Qed.

(* Every position says whether at least half of all tokens are true. *)
Definition majority : seq (rounded_head rat unit bool) * (bool -> seq bool -> bool) :=
  ([:: RoundedHead All (fun _ _ => tt) (fun b : bool => (b : nat)%:R) [:: 2%:R^-1]],
   fun _ => seq.head false).

Example rounded_transformer_met (s : seq bool) :
  net false 0 +%R *%R [:: rounded_block (fun=> 1) majority] s =
  Caps.run [:: rounded_layer (fun=> 1) majority] s.
Proof. by apply: (rounded_transformer false _ [:: majority]). Qed.

Example rounded_blocks_beyond_met (read : bool -> bool) : exists w,
  read (last false (net false 0 +%R *%R [:: rounded_block (fun=> 1) majority] w))
    != Caps.block_word 2 w.
Proof.
have [//|//|//|w] := @rounded_blocks_beyond _ _ _ false (fun=> 1 : rat) _ [:: majority] id
  [::] [::] read 2.
by rewrite map_id cats0; exists w.
Qed.

Example rounded_collapse_caps_met (rest : seq bool -> bool) : exists w,
  rest (net false 0 +%R *%R [:: rounded_block (fun=> 1) majority] w) != Caps.block_word 2 w.
Proof.
have [//|w _|//|//|w] := @rounded_collapse_caps _ _ _ false (fun=> 1 : rat) _ [:: majority] id
  [::] [::] rest 2; last by rewrite map_id cats0; exists w.
set s := _ ++ _; pose b := rounded_block (fun=> 1 : rat) majority.
exists (renewed false 0 +%R *%R b s 0).
apply: (@eq_from_nth _ false) => [|i lt]; first by rewrite size_nseq.
by rewrite nth_nseq lt nth_mkseq // -(size_apply false 0 +%R *%R b s).
Qed.

Example parity_transformer_met target : block_decides (rat : realFieldType) 3 target 3.
Proof. exact/parity_transformer. Qed.
Example parity_transformer_checked_met target H :
  block_decides (rat : realFieldType) 3 target H <-> (3 <= H)%N.
Proof. exact: parity_transformer_checked. Qed.
Example parity_transformer_not_2 target : ~ block_decides (rat : realFieldType) 3 target 2.
Proof. by move/parity_transformer. Qed.

End Instances.
