(* Quaternion: how many DeltaNet layers with finitely many states track a group.

   The layers of theory/least_depth/householder.py, S -> S (1 - beta k^T k) + beta v k with k a row
   of norm 1 and beta in [0, 2], over any ordered field. A layer may have any number of heads. The
   numbers beta, the keys k, the values v and the read-out are arbitrary functions of the letter and
   of the states of the layers below, which are those before the letter: those after it are
   functions of these and the letter. Updates are exact. The letters are the elements of a finite
   group, all of them. Layers that round after each update stay informal. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From mathcomp Require Import ring.
From depthlaw Require Diagonal.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Notation product := Diagonal.product.

(* --- the layers --- *)

Section Layers.

Variables (F : realFieldType) (gT : finGroupType).
Implicit Types (w : seq gT) (x : gT).

(* A stack of L layers with heads H: at layer l and head h a state of m rows for keys of length d.
   Shorter keys and fewer rows are those that end in zeros. *)
Definition state L (H : finType) m d := {ffun 'I_L * H -> 'M[F]_(m, d)}.

Record stack L H m d := Stack
  { start : state L H m d;
    beta : gT -> state L H m d -> 'I_L * H -> F;
    key : gT -> state L H m d -> 'I_L * H -> 'rV[F]_d;
    value : gT -> state L H m d -> 'I_L * H -> 'cV[F]_m }.

Section One.
Variables (L : nat) (H : finType) (m d : nat) (N : stack L H m d).

(* What a layer reads are the letter and the states of the layers below it. *)
Definition layered := forall x (s t : state L H m d) (i : 'I_L * H),
  (forall i' : 'I_L * H, (i'.1 < i.1)%N -> s i' = t i') ->
  [/\ beta N x s i = beta N x t i, key N x s i = key N x t i & value N x s i = value N x t i].

Definition deltanet := forall x s i,
  0 <= beta N x s i <= 2%:R /\ key N x s i *m (key N x s i)^T = 1%:M.

Definition update (b : F) (k : 'rV_d) (v : 'cV_m) (S : 'M[F]_(m, d)) :=
  S *m (1%:M - b *: (k^T *m k)) + b *: (v *m k).
Definition read s x : state L H m d :=
  [ffun i => update (beta N x s i) (key N x s i) (value N x s i) (s i)].
Definition run w := foldl read (start N) w.

(* A finite set of states that has the start in it and that no letter leaves. *)
Definition finite_states :=
  exists2 Q : seq (state L H m d), start N \in Q & forall x s, s \in Q -> read s x \in Q.

(* A read-out sees all states and the last letter. *)
Definition decodes := exists readout : state L H m d -> gT -> gT,
  forall w x, readout (run (rcons w x)) x = product (rcons w x).

End One.

Definition tracked L := exists (H : finType) m d (N : stack L H m d),
  [/\ layered N, deltanet N, finite_states N & decodes N].

End Layers.

(* --- one layer --- *)

Section Period.

Variables (F : realFieldType) (m d : nat) (b : F) (k : 'rV[F]_d) (v : 'cV[F]_m).
Hypothesis k1 : k *m k^T = 1%:M.
Implicit Type S : 'M[F]_(m, d).
Notation f := (update b k v).

Definition gap S := S *m k^T - v.

Lemma update_gap S : f S = S - b *: (gap S *m k).
Proof.
rewrite /update /gap mulmxBr mulmx1 mulmxBl scalerBr opprB -!scalemxAr mulmxA addrAC -addrA.
by congr (_ + _); rewrite addrC.
Qed.

Lemma gap_update S : gap (f S) = (1 - b) *: gap S.
Proof.
rewrite {1}/gap update_gap mulmxBl -scalemxAl -mulmxA k1 mulmx1 scalerBl scale1r.
by rewrite addrAC.
Qed.

Lemma gap_iter n S : gap (iter n f S) = (1 - b) ^+ n *: gap S.
Proof.
elim: n => [|n IH]; first by rewrite scale1r.
by rewrite iterS gap_update IH scalerA exprS.
Qed.

Lemma still S : b *: gap S = 0 -> f S = S.
Proof. by move=> g0; rewrite update_gap scalemxAl g0 mul0mx subr0. Qed.

(* If the states of one head return while one letter is repeated, then from the first step on they
   have period 1 or 2, whatever the number beta is. *)
Theorem repeated_letter S n p : (0 < p)%N -> iter (p + n) f S = iter n f S ->
  forall i, iter i.+3 f S = iter i.+1 f S.
Proof.
move=> p0 back.
suff two : f (f (f S)) = f S by elim=> // i IH; rewrite iterS IH.
have [g0|] := eqVneq (gap S) 0; first by rewrite !(@still S) ?g0 ?scaler0.
case/matrix0Pn => i [j gij].
have: (1 - b) ^+ (p + n) * gap S i j = (1 - b) ^+ n * gap S i j.
  by have /matrixP /(_ i j) := congr1 gap back; rewrite !gap_iter !mxE.
move/(mulIf gij); have [b1 _|b1] := eqVneq (1 - b) 0.
  have g1 : gap (f S) = 0 by rewrite gap_update b1 scale0r.
  by rewrite !(@still (f S)) ?g1 ?scaler0.
rewrite exprD -[RHS]mul1r => /(mulIf (expf_neq0 n b1)) root.
have /eqP : `|1 - b| = 1.
  by apply/eqP; rewrite -(pexpr_eq1 p0) ?normr_ge0 // -normrX root normr1.
rewrite eqr_norml ler01 andbT => /orP [] /eqP b1'.
  by rewrite !(@still S) // -[b](subKr 1) b1' subrr scale0r.
have e1 := update_gap (f S); have e2 := update_gap (f (f S)).
rewrite !gap_update b1' !scaleN1r ?opprK in e1 e2.
by rewrite e2 {1}e1 mulNmx scalerN opprK addrK.
Qed.

End Period.

Lemma pigeonhole (T : eqType) (Q : seq T) (g : nat -> T) : (forall i, g i \in Q) ->
  exists n p, (0 < p)%N /\ g (p + n)%N = g n.
Proof.
move=> gQ; have : ~~ uniq [seq g i | i <- iota 0 (size Q).+1].
  apply/negP => /uniq_leq_size sub; have := sub Q; rewrite size_map size_iota ltnn.
  by move=> H; suff: false by []; apply: H => _ /mapP [i _ ->].
case/(uniqPn (g 0%N)) => i [j [ij]]; rewrite size_map size_iota => jQ.
have iQ := ltn_trans ij jQ; rewrite !(nth_map 0%N) ?size_iota // !nth_iota // !add0n => e.
by exists i, (j - i)%N; rewrite subn_gt0 ij subnK // ltnW.
Qed.

Section OneLayer.

Variables (F : realFieldType) (gT : finGroupType).

(* One layer, or none, tracks no group that has an element of order 3 or more. *)
Theorem one_layer L : (L <= 1)%N -> tracked F gT L -> forall x : gT, (x * x = 1)%g.
Proof.
move=> L1 [H [m [d [N [lN dN [Q sQ stay] [readout dec]]]]]] x.
pose s0 := start N; pose st n := run N (nseq n x).
have stS n : st n.+1 = read N (st n) x.
  by rewrite /st /run -addn1 nseqD foldl_cat.
have stQ n : st n \in Q by elim: n => // n IH; rewrite stS stay.
pose f i := update (beta N x s0 i) (key N x s0 i) (value N x s0 i).
have stE n i : st n i = iter n (f i) (s0 i).
  elim: n => [|n IH] //; rewrite stS ffunE iterS -IH /f.
  have [i'|-> -> ->] // := lN x (st n) s0 i.
  by move=> lt; have := leq_trans (ltn_ord i.1) L1; rewrite ltnS leqn0 => /eqP i0; rewrite i0 in lt.
have [n [p [p0 back]]] := pigeonhole stQ.
have same : st 3%N = st 1%N.
  apply/ffunP => i; rewrite !stE; apply: (repeated_letter (n := n) _ p0 _ 0); last by rewrite -!stE back.
  by have [] := dN x s0 i.
have e : run N (rcons [:: x; x] x) = run N (rcons [::] x) := same.
have := dec [:: x; x] x; rewrite e dec /product !big_cons big_nil mulg1 => xx.
by apply: (mulgI x); rewrite mulg1.
Qed.

End OneLayer.
