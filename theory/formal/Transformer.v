(* The transformer: one definition, of which the nets of the other files are instances.

   A block gives each token a new state, made of its state and of what its heads read; a head reads
   the weighted sum of the values of the tokens that it sees. Nothing is said of numbers: states,
   scores, weights and values are of any types, and values can be added and scaled. So one
   definition holds over rings, over real numbers, and for hard attention, where a sum is a choice.
   Masks, scores and embeddings know positions, but not how long the text is.
   Bridges.v shows of which nets in the other files it is the general form. *)

From mathcomp Require Import ssreflect ssrfun ssrbool eqtype ssrnat seq.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Transformer.

(* Tokens before the embedding, states, scores, weights and values. *)
Variables (A T X S V : Type).

(* A state that stands for what lies outside a text, where no token is; sums of values, and values
   times weights. *)
Variables (blank : T) (zero : V) (add : V -> V -> V) (scale : S -> V -> V).

(* A head. Its mask says whether position i sees position j; a score depends on these positions, on
   the state at i, which reads, and on that at j, which is read; weights are made of the scores of
   the tokens seen, in the order of positions. *)
Record head := Head {
  sees : nat -> nat -> bool;
  score : nat -> nat -> T -> T -> X;
  weigh : seq X -> seq S;
  value : T -> V }.

(* The map of a token may hold residual connection, output matrices, layer norm and MLP. *)
Record block := Block { heads : seq head; renew : T -> seq V -> T }.

(* The positions that position i of n sees, and their scores and weights. *)
Definition seen (h : head) (n i : nat) : seq nat := [seq j <- iota 0 n | sees h i j].
Definition scores (h : head) (s : seq T) (i : nat) : seq X :=
  [seq score h i j (nth blank s i) (nth blank s j) | j <- seen h (size s) i].
Definition weights (h : head) (s : seq T) (i : nat) : seq S := weigh h (scores h s i).

(* What a head reads at position i. A token without a weight is not read, and a weight without a
   token counts for nothing. *)
Definition read (h : head) (s : seq T) (i : nat) : V :=
  foldr add zero
    [seq scale p.1 (value h (nth blank s p.2)) | p <- zip (weights h s i) (seen h (size s) i)].

Definition renewed (b : block) (s : seq T) (i : nat) : T :=
  renew b (nth blank s i) [seq read h s i | h <- heads b].
Definition apply (b : block) (s : seq T) : seq T := mkseq (renewed b s) (size s).

(* The first block of the list acts first. *)
Definition net (bs : seq block) (s : seq T) : seq T := foldl (fun s b => apply b s) s bs.

(* An embedding depends on the place of a token and on the token. *)
Definition embedded (embed : nat -> A -> T) (w : seq A) : seq T :=
  [seq embed p.1 p.2 | p <- zip (iota 0 (size w)) w].
Definition transformer (embed : nat -> A -> T) (bs : seq block) (w : seq A) : seq T :=
  net bs (embedded embed w).

End Transformer.

Arguments Head {T X S V}.
Arguments Block {T X S V}.

(* --- masks and weights --- *)

Definition full (i j : nat) : bool := true.
Definition causal (i j : nat) : bool := j <= i.
Definition strictly_causal (i j : nat) : bool := j < i.
Definition anticausal (i j : nat) : bool := i <= j.

(* Linear attention: the weights are the scores. *)
Definition linear (X : Type) (xs : seq X) : seq X := xs.

(* Each e(x) as a fraction of their sum: softmax if e is the exponential. *)
Definition fractions (X S : Type) (zero : S) (add div : S -> S -> S) (e : X -> S) (xs : seq X) :
    seq S :=
  [seq div (e x) (foldr add zero [seq e y | y <- xs]) | x <- xs].

(* --- what follows from the definition alone --- *)

Section Facts.

Variables (A T X S V : Type).
Variables (blank : T) (zero : V) (add : V -> V -> V) (scale : S -> V -> V).
Implicit Types (h : head T X S V) (b : block T X S V) (bs : seq (block T X S V)).
Local Notation net := (net blank zero add scale).

Lemma size_apply b s : size (apply blank zero add scale b s) = size s.
Proof. exact: size_mkseq. Qed.

Lemma size_net bs s : size (net bs s) = size s.
Proof. by elim: bs s => //= b bs IH s; rewrite IH size_apply. Qed.

Lemma net_cat bs bs' s : net (bs ++ bs') s = net bs' (net bs s).
Proof. exact: foldl_cat. Qed.

Lemma size_embedded (embed : nat -> A -> T) w : size (embedded embed w) = size w.
Proof. by rewrite size_map size_zip size_iota minnn. Qed.

Lemma nth_embedded a0 (embed : nat -> A -> T) w i : i < size w ->
  nth blank (embedded embed w) i = embed i (nth a0 w i).
Proof.
move=> lt; rewrite (nth_map (0, a0)) ?size_zip ?size_iota ?minnn //.
by rewrite nth_zip ?size_iota // nth_iota.
Qed.

Lemma seenP h n i j : (j \in seen h n i) = sees h i j && (j < n).
Proof. by rewrite mem_filter mem_iota. Qed.

Lemma seen_full n i : [seq j <- iota 0 n | full i j] = iota 0 n.
Proof. exact: filter_predT. Qed.

Lemma seen_causal n i : i < n -> [seq j <- iota 0 n | causal i j] = iota 0 i.+1.
Proof.
move=> lt; rewrite -(subnKC lt) iotaD filter_cat -[RHS]cats0; congr (_ ++ _).
  by apply/all_filterP/allP => j; rewrite mem_iota.
rewrite -(filter_pred0 (iota (0 + i.+1) (n - i.+1))); apply: eq_in_filter => j.
by rewrite mem_iota add0n /causal => /andP[ij _]; rewrite leqNgt ij.
Qed.

Lemma seen_anticausal n i : i <= n -> [seq j <- iota 0 n | anticausal i j] = iota i (n - i).
Proof.
move=> le; rewrite -{1}(subnKC le) iotaD filter_cat; set before := filter _ _.
have -> : before = [::].
  rewrite -(filter_pred0 (iota 0 i)); apply: eq_in_filter => j.
  by rewrite mem_iota /anticausal => /andP[_ ji]; rewrite leqNgt ji.
by apply/all_filterP/allP => j; rewrite mem_iota => /andP[].
Qed.

(* Under a causal mask what comes later does not matter. *)
Lemma read_causal h s i : (forall i j, sees h i j -> j <= i) -> i < size s ->
  read blank zero add scale h s i = read blank zero add scale h (take i.+1 s) i.
Proof.
move=> past lt; have szp : size (take i.+1 s) = i.+1 by rewrite size_takel.
have same : seen h (size s) i = seen h i.+1 i.
  rewrite /seen -(subnKC lt) iotaD filter_cat -[RHS]cats0; congr (_ ++ _).
  rewrite -(filter_pred0 (iota (0 + i.+1) (size s - i.+1))); apply: eq_in_filter => j.
  rewrite mem_iota add0n => /andP[ij _]; apply/negbTE/negP => /past.
  by rewrite leqNgt ij.
rewrite /read /weights /scores szp same.
have at_ j : j <= i -> nth blank (take i.+1 s) j = nth blank s j by move=> ji; rewrite nth_take.
set ws := weigh h _; have -> : ws = weigh h [seq score h i j (nth blank (take i.+1 s) i)
    (nth blank (take i.+1 s) j) | j <- seen h i.+1 i].
  congr weigh; apply/eq_in_map => j; rewrite seenP => /andP[_ ji].
  by rewrite !at_.
have: {subset seen h i.+1 i <= [pred j | j <= i]} by move=> j; rewrite seenP => /andP[].
elim: (seen h i.+1 i) (weigh h _) => [|j js IH] [|x xs] //= sub.
rewrite IH ?at_ //; first by apply: sub; rewrite mem_head.
by move=> k kjs; apply: sub; rewrite inE kjs orbT.
Qed.

End Facts.
