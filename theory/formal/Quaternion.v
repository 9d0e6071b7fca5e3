(* Quaternion: how many DeltaNet layers with finitely many states track a group.

   The layers of theory/least_depth/householder.py, S -> S (1 - beta k^T k) + beta v k with k a row
   of norm 1 and beta in [0, 2], over any ordered field. A layer may have any number of heads. The
   numbers beta, the keys k, the values v and the read-out are arbitrary functions of the letter and
   of the states of the layers below, which are those before the letter: those after it are
   functions of these and the letter. Updates are exact. The letters are the elements of a finite
   group, all of them. Layers that round after each update stay informal. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_fingroup all_algebra all_solvable.
From mathcomp Require Import ring.
From Depthlaw Require Diagonal.

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
  apply/ffunP => i; have [_ k1] := dN x s0 i; rewrite !stE.
  by apply: (repeated_letter (n := n) k1 p0 _ 0); rewrite -!stE back.
have e : run N (rcons [:: x; x] x) = run N (rcons [::] x) := same.
have := dec [:: x; x] x; rewrite e dec /product !big_cons big_nil mulg1 => xx.
by apply: (mulgI x); rewrite mulg1.
Qed.

End OneLayer.

Lemma signs_track (F : realFieldType) (gT : finGroupType) :
  (forall x : gT, x * x = 1)%g -> tracked F gT 1.
Proof.
move=> square1; have inv x : (x^-1 = x :> gT)%g by apply: (mulgI x); rewrite mulgV square1.
have ab : abelian [set: gT].
  by apply/centsP => x _ y _; rewrite /commute -[RHS]inv invMg !inv.
have exp2 : (exponent [set: gT] %| 2)%N by apply/exponentP => x _; rewrite expgS expg1.
have each_sign a : exists c : gT -> F, [/\ {morph c : x y / (x * y)%g >-> x * y},
    forall x, c x ^+ 2 = 1 & a != 1%g -> c a != 1].
  have [->|a1] := eqVneq a 1%g.
    by exists (fun=> 1); split=> [x y|x|]; rewrite ?mulr1 ?expr1n ?eqxx //.
  have [c [cM c2 ca]] :=
    Diagonal.abelian_character (Diagonal.sign_primitive F) ab exp2 (in_setT a) a1.
  by exists c; split=> // x y; rewrite cM ?inE.
have [chi chiP] := fin_all_exists each_sign.
pose N : stack F gT 1 gT 1 1 := Stack [ffun=> 1%:M] (fun x _ i => 1 - chi i.2 x)
  (fun _ _ _ => 1%:M) (fun _ _ _ => 0).
pose S y : state F 1 gT 1 1 := [ffun i => (chi i.2 y)%:M].
have readS y x : read N (S y) x = S (y * x)%g.
  apply/ffunP => i; rewrite !ffunE /update mul0mx scaler0 addr0 trmx1 mulmx1.
  have [-> _ _] := chiP i.2; rewrite scalerBl scale1r opprB addrCA subrr addr0.
  by rewrite -scalemxAr mulmx1 scale_scalar_mx mulrC.
have startS : start N = S 1%g.
  apply/ffunP => i; rewrite !ffunE; have [cM c2 _] := chiP i.2; congr _%:M.
  by rewrite -(c2 1%g) expr2 -cM mulg1.
have runS w : run N w = S (product w).
  elim/last_ind: w => [|w x IH]; first by rewrite Diagonal.product_nil.
  by rewrite /run foldl_rcons -/(run N w) IH readS -cats1 Diagonal.product_cat Diagonal.product1.
exists (gT : finType), 1%N, 1%N, N; split=> //.
- move=> x s i; split; last by rewrite trmx1 mulmx1.
  have [_ /(_ x) /eqP + _] := chiP i.2; rewrite sqrf_eq1 /= => /orP [] /eqP ->.
    by rewrite subrr ler0n Order.POrderTheory.lexx.
  by rewrite opprK -(natrD _ 1 1) ler0n Order.POrderTheory.lexx.
- exists [seq S y | y : gT]; first by rewrite startS image_f.
  by move=> x _ /imageP [y _ ->]; rewrite readS image_f.
exists (fun s _ => odflt 1%g [pick y | S y == s]) => w x; rewrite runS.
case: pickP => [y /eqP /ffunP e|/(_ (product (rcons w x)))] /=; last by rewrite eqxx.
set z := product _ in e *; have [//|ne] := eqVneq y z.
have a1 : (y * z)%g != 1%g.
  apply: contra ne => /eqP yz; rewrite -[z]inv; apply/eqP/(mulIg z).
  by rewrite yz mulVg.
have [cM c2 /(_ a1)] := chiP (y * z)%g; rewrite cM; have := e (ord0, (y * z)%g).
rewrite !ffunE /= => /(congr1 (fun M : 'M_1 => M 0 0)); rewrite !mxE /= !mulr1n => ->.
by rewrite -expr2 c2 eqxx.
Qed.

(* One layer tracks a finite group if and only if every element is its own inverse. *)
Theorem one_layer_signs (F : realFieldType) (gT : finGroupType) :
  tracked F gT 1 <-> forall x : gT, (x * x = 1)%g.
Proof. by split=> [tr|]; [apply: one_layer tr | apply: signs_track]. Qed.

Example parity_one (F : realFieldType) : tracked F ('I_2 : finGroupType) 1.
Proof. by apply/one_layer_signs => x; apply/val_inj; case: x => [[|[]]]. Qed.

(* --- quaternions --- *)

Section Quaternions.

Variable F : realFieldType.

(* a + b i + c j + d k. *)
Definition quaternion : Type := F * F * F * F.
Implicit Types (s k x y : quaternion).

Definition times x y : quaternion :=
  let: (a, b, c, d) := x in let: (a', b', c', d') := y in
  (a * a' - b * b' - c * c' - d * d', a * b' + b * a' + c * d' - d * c',
   a * c' - b * d' + c * a' + d * b', a * d' + b * c' - c * b' + d * a').
Definition conj x : quaternion := let: (a, b, c, d) := x in (a, - b, - c, - d).
Definition minus x : quaternion := let: (a, b, c, d) := x in (- a, - b, - c, - d).
Definition norm x : F := let: (a, b, c, d) := x in a ^+ 2 + b ^+ 2 + c ^+ 2 + d ^+ 2.
Definition unit (i : nat) : quaternion :=
  ((i == 0%N)%:R, (i == 1%N)%:R, (i == 2%N)%:R, (i == 3%N)%:R).
Definition vec x : 'rV[F]_4 := let: (a, b, c, d) := x in \row_j [:: a; b; c; d]`_j.

Arguments times : simpl never.
Arguments conj : simpl never.
Arguments minus : simpl never.
Arguments unit : simpl never.

Local Ltac coordinates := repeat match goal with x : quaternion |- _ => 
  let a := fresh "a" in let b := fresh "b" in let c := fresh "c" in let d := fresh "d" in
  case: x => [[[a b] c] d] end.
Local Ltac by_ring := coordinates; rewrite /times /conj /minus /norm /unit /=; 
  try congr (_, _, _, _); ring.

Lemma timesA x y s : times x (times y s) = times (times x y) s.
Proof. by_ring. Qed.

Lemma times1l x : times (unit 0) x = x.
Proof. by_ring. Qed.

Lemma times1r x : times x (unit 0) = x.
Proof. by_ring. Qed.

Lemma conj_times x y : conj (times x y) = times (conj y) (conj x).
Proof. by_ring. Qed.

Lemma conjK x : conj (conj x) = x.
Proof. by_ring. Qed.

Lemma minusK x : minus (minus x) = x.
Proof. by_ring. Qed.

Lemma minus_timesl x y : times (minus x) y = minus (times x y).
Proof. by_ring. Qed.

Lemma minus_timesr x y : times x (minus y) = minus (times x y).
Proof. by_ring. Qed.

Lemma conj_minus x : conj (minus x) = minus (conj x).
Proof. by_ring. Qed.

Lemma norm_conj x : norm (conj x) = norm x.
Proof. by_ring. Qed.

Lemma norm_minus x : norm (minus x) = norm x.
Proof. by_ring. Qed.

Lemma norm_times x y : norm (times x y) = norm x * norm y.
Proof. by_ring. Qed.

Lemma conj_unit0 : conj (unit 0) = unit 0.
Proof. by_ring. Qed.

Lemma times_conj x : norm x = 1 -> times x (conj x) = unit 0.
Proof.
case: x => [[[a b] c] d]; rewrite /times /conj /norm /unit /= => n1.
by congr (_, _, _, _); rewrite -?n1; ring.
Qed.

Lemma conj_timesK x : norm x = 1 -> times (conj x) x = unit 0.
Proof. by move=> n1; rewrite -{2}[x]conjK times_conj // norm_conj. Qed.

Lemma vec_inj : injective vec.
Proof.
move=> [[[a b] c] d] [[[a' b'] c'] d'] /rowP e.
have [e0 e1 e2 e3] := And4 (e 0) (e 1) (e (inord 2)) (e (inord 3)).
by move: e0 e1 e2 e3; rewrite !mxE /= !inordK //= => -> -> -> ->.
Qed.

Lemma vec_dot x y : vec x *m (vec y)^T = (let: (a, b, c, d) := x in let: (a', b', c', d') := y in
  a * a' + b * b' + c * c' + d * d')%:M.
Proof.
case: x => [[[a b] c] d]; case: y => [[[a' b'] c'] d'].
apply/rowP => j; rewrite ord1 !mxE !big_ord_recl big_ord0 !mxE /=; ring.
Qed.

Lemma vec_norm x : norm x = 1 -> vec x *m (vec x)^T = 1%:M.
Proof. by rewrite vec_dot; case: x => [[[a b] c] d] <-; congr _%:M; rewrite /norm; ring. Qed.

(* Across a quaternion k of norm 1 the factor 1 - 2 k^T k of a layer maps each row s to - k s* k,
   s* the conjugate. *)
Theorem reflected_quaternion k s : norm k = 1 ->
  vec s *m (1%:M - 2%:R *: ((vec k)^T *m vec k)) = vec (minus (times (times k (conj s)) k)).
Proof.
move=> k1; rewrite mulmxBr mulmx1 -scalemxAr mulmxA vec_dot mul_scalar_mx scalerA.
case: s k k1 => [[[a b] c] d] [[[a' b'] c'] d'] k1.
apply/rowP => j; rewrite !mxE.
have e (x : F) : x = norm (a', b', c', d') * x by rewrite k1 mul1r.
by case: j => [[|[|[|[|//]]]] ?]; rewrite /= [X in X - _]e /norm; ring.
Qed.

(* Rows y s x after an even number of reflections, - x* s* y after an odd number, for the four
   units s. *)
Definition rows (odd : bool) x y : 'M[F]_4 := \matrix_(i < 4)
  vec (if odd then minus (times (times (conj x) (conj (unit i))) y)
       else times (times y (unit i)) x).

Definition mirror (odd : bool) k := if odd then k else conj k.
Definition other (odd : bool) y k := if odd then times k (conj y) else times (conj y) (conj k).

(* A state with rows y s x, or - x* s* y after an odd number of letters: one factor of a layer
   multiplies x from the right by any quaternion of norm 1. *)
Theorem one_factor odd x y k : norm k = 1 ->
  rows odd x y *m (1%:M - 2%:R *: ((vec (mirror odd k))^T *m vec (mirror odd k))) =
  rows (~~ odd) (times x k) (other odd y k).
Proof.
move=> k1; apply/row_matrixP => i; rewrite row_mul !rowK reflected_quaternion; last first.
  by rewrite /mirror; case: (odd); rewrite ?norm_conj.
congr vec; case: odd; rewrite /mirror /other /=; last by rewrite !conj_times !timesA.
by rewrite conj_minus minus_timesr minus_timesl minusK !conj_times !conjK !timesA.
Qed.

Lemma central x : norm x = 1 -> times x (unit 1) = times (unit 1) x ->
  times x (unit 2) = times (unit 2) x -> x = unit 0 \/ x = minus (unit 0).
Proof.
have half (z : F) : z = - z -> z = 0 by move/esym/eqP; rewrite eqNr => /eqP.
case: x => [[[a b] c] d]; rewrite /times /unit /minus /norm /= => n1.
rewrite !(mulr0, mulr1, mul0r, mul1r, addr0, add0r, subr0, sub0r, oppr0).
case=> /half d0 /esym/half c0 /(congr1 snd) /= /half b0; move: n1.
rewrite b0 c0 d0 expr0n /= !addr0.
move/eqP; rewrite sqrf_eq1 => /orP [] /eqP ->; by [left | right].
Qed.

(* The rows show x up to its sign. *)
Lemma rows_show odd x y x' y' : norm x = 1 -> norm y = 1 -> norm x' = 1 -> norm y' = 1 ->
  rows odd x y = rows odd x' y' -> x = x' \/ x = minus x'.
Proof.
move=> nx ny nx' ny' e.
have {e} e i : (i < 4)%N ->
    (if odd then minus (times (times (conj x) (conj (unit i))) y)
     else times (times y (unit i)) x) =
    (if odd then minus (times (times (conj x') (conj (unit i))) y')
     else times (times y' (unit i)) x').
  by move=> i4; have := congr1 (row (Ordinal i4)) e; rewrite !rowK => /vec_inj.
have {e} [z [z' [nz nz' e]]] : exists z z', [/\ norm z = 1, norm z' = 1 &
    forall i, (i < 4)%N -> times (times z (unit i)) x = times (times z' (unit i)) x'].
  case: odd e => e; [exists (conj y), (conj y') | exists y, y']; split; rewrite ?norm_conj //.
  move=> i /e /(congr1 minus); rewrite !minusK => /(congr1 conj).
  by rewrite !conj_times !conjK -!timesA.
pose c := times (conj z') z.
have cE i : (i < 4)%N -> times (times c (unit i)) x = times (unit i) x'.
  move=> /e /(congr1 (times (conj z'))).
  by rewrite !timesA conj_timesK // times1l.
have cx : times c x = x' by have := cE 0%N isT; rewrite times1r times1l.
have commutes i : (i < 4)%N -> times c (unit i) = times (unit i) c.
  move=> /cE; rewrite -cx => /(congr1 (times^~ (conj x))).
  by rewrite timesA -!timesA times_conj // !times1r.
have nc : norm c = 1 by rewrite norm_times norm_conj nz nz' mulr1.
rewrite -cx; case: (central nc (commutes 1%N isT) (commutes 2%N isT)) => ->.
  by left; rewrite times1l.
by right; rewrite minus_timesl times1l minusK.
Qed.


End Quaternions.

(* --- two layers --- *)

Section TwoLayers.

Variables (F : realFieldType) (gT : finGroupType) (J : finType).
Implicit Types (x y z : gT) (A : {set gT}).

Definition signed (b : bool) (q : quaternion F) := if b then minus q else q.

(* A group as rotations of space: each element stands for the quaternions q and - q. *)
Definition rotations A (lift : gT -> quaternion F) :=
  [/\ {in A, forall x, norm (lift x) = 1},
      {in A &, forall x y, exists b, times (lift x) (lift y) = signed b (lift (x * y)%g)} &
      {in A &, forall x y b, lift x = signed b (lift y) -> x = y}].

(* Signs of the elements, and the elements that have none. *)
Definition signs (sign : J -> gT -> bool) :=
  forall j x y, sign j (x * y)%g = sign j x (+) sign j y.
Definition even (sign : J -> gT -> bool) : {set gT} := [set x | [forall j, ~~ sign j x]].

Variables (sign : J -> gT -> bool) (lift : gT -> quaternion F).
Hypothesis sign_signs : signs sign.
Hypothesis lift_rotations : rotations (even sign) lift.

Lemma evenP x : reflect (forall j, sign j x = false) (x \in even sign).
Proof.
rewrite inE; apply: (iffP forallP) => e j; first exact/negbTE/e.
by rewrite e.
Qed.

Lemma sign1 j : sign j 1%g = false.
Proof. by have := sign_signs j 1%g 1%g; rewrite mulg1; case: (sign j 1%g). Qed.

Lemma signV j x : sign j x^-1%g = sign j x.
Proof. by have := sign_signs j x x^-1%g; rewrite mulgV sign1; do 2!case: (sign _ _). Qed.

Lemma even1 : 1%g \in even sign.
Proof. exact/evenP/sign1. Qed.

Lemma evenM x y : x \in even sign -> y \in even sign -> (x * y)%g \in even sign.
Proof. by move=> /evenP ex /evenP ey; apply/evenP => j; rewrite sign_signs ex ey. Qed.

Lemma evenV x : x \in even sign -> x^-1%g \in even sign.
Proof. by move=> /evenP ex; apply/evenP => j; rewrite signV. Qed.

(* The product of a word is a part without signs and a chosen element of the same signs. *)
Definition sign_of x : {ffun J -> bool} := [ffun j => sign j x].
Definition chosen (e : {ffun J -> bool}) := odflt 1%g [pick z | sign_of z == e].
Definition part y := (y * (chosen (sign_of y))^-1)%g.
Definition change (e : {ffun J -> bool}) x :=
  (chosen e * x * (chosen [ffun j => e j (+) sign j x])^-1)%g.

Lemma chosenP y j : sign j (chosen (sign_of y)) = sign j y.
Proof.
rewrite /chosen; case: pickP => [z /eqP/ffunP/(_ j)|/(_ y)]; first by rewrite !ffunE.
by rewrite eqxx.
Qed.

Lemma part_even y : part y \in even sign.
Proof. by apply/evenP => j; rewrite sign_signs signV chosenP addbb. Qed.

Lemma part_change y x : part (y * x) = (part y * change (sign_of y) x)%g.
Proof.
rewrite /part /change (_ : [ffun j => _] = sign_of (y * x)).
  by rewrite !mulgA mulgKV.
by apply/ffunP => j; rewrite !ffunE sign_signs.
Qed.

Lemma change_even y x : change (sign_of y) x \in even sign.
Proof. by rewrite -(mulKg (part y) (change _ x)) -part_change evenM ?evenV ?part_even. Qed.

Lemma part_inj y y' : sign_of y = sign_of y' -> part y = part y' -> y = y'.
Proof. by rewrite /part => -> /mulIg. Qed.

Lemma signed_signed b b' q : signed b (signed b' q) = signed (b (+) b') q.
Proof. by case: b b' => [] [] //=; rewrite minusK. Qed.

Lemma signed_timesl b q q' : times (signed b q) q' = signed b (times q q').
Proof. by case: b => //=; rewrite minus_timesl. Qed.

Lemma signed_timesr b q q' : times q (signed b q') = signed b (times q q').
Proof. by case: b => //=; rewrite minus_timesr. Qed.

Lemma signed_conj b q : conj (signed b q) = signed b (conj q).
Proof. by case: b => //=; rewrite conj_minus. Qed.

Lemma norm_signed b q : norm (signed b q) = norm q.
Proof. by case: b => //=; rewrite norm_minus. Qed.

Lemma lift1 : exists b, lift 1%g = signed b (unit F 0).
Proof.
have [n1 M _] := lift_rotations; have [b] := M _ _ even1 even1; rewrite mulg1.
move/(congr1 (times (conj (lift 1%g)))); rewrite timesA signed_timesr conj_timesK ?n1 ?even1 //.
by rewrite times1l; exists b.
Qed.

Lemma lift_conj x : x \in even sign -> exists b, conj (lift x) = signed b (lift x^-1%g).
Proof.
move=> xA; have [n1 M _] := lift_rotations.
have [b] := M _ _ xA (evenV xA); rewrite mulgV; have [b' ->] := lift1.
move/(congr1 (times (conj (lift x)))); rewrite timesA !signed_timesr conj_timesK ?n1 //.
by rewrite times1l times1r signed_signed => ->; exists (b (+) b'); rewrite signed_signed addbb.
Qed.

Variable L : nat.
Notation state := (state F L.+2 (option J : finType) 4 4).
Notation place := ('I_L.+2 * option J)%type.

(* Layer 1 keeps signs: one changes at every letter. *)
Definition flip : 'M[F]_4 := 1%:M - 2%:R *: ((vec (unit F 0))^T *m vec (unit F 0)).
Definition flag (b : bool) : 'M[F]_4 := if b then flip else 1%:M.

Lemma norm_unit0 : norm (unit F 0) = 1.
Proof. by rewrite /norm /unit /= expr1n expr0n !addr0. Qed.

Lemma flag_flip b : flag b *m flip = flag (~~ b).
Proof.
case: b; rewrite /= ?mul1mx // /flip; set k := vec _.
have: (k^T *m k) *m (k^T *m k) = k^T *m k.
  by rewrite mulmxA -(mulmxA k^T) vec_norm ?norm_unit0 // mulmx1.
move: (k^T *m k) => P PP; rewrite mulmxBr mulmx1 mulmxBl mul1mx -scalemxAl -scalemxAr PP.
by apply/matrixP => i j; rewrite !mxE; move: (_ == _)%:R (P i j) => u v; ring.
Qed.

Lemma flag_shows b : (flag b 0 0 != 1) = b.
Proof.
case: b; rewrite /= !mxE /= ?eqxx //.
rewrite big_ord1 !mxE /= !mulr1 (_ : 1 - 2%:R = - 1); last by ring.
by rewrite eq_sym -addr_eq0 -(natrD _ 1 1) pnatr_eq0.
Qed.

Definition shown (s : state) h := s (ord0, h) 0 0 != 1.

Definition turned (s : state) x :=
  let a := change [ffun j => shown s (Some j)] x in
  mirror (shown s None) (if a \in even sign then lift a else unit F 0).

Definition two : stack F gT L.+2 (option J : finType) 4 4 := Stack
  [ffun i : place => if i.1 == 1%N :> nat then rows false (lift (part 1)) (lift 1%g) else 1%:M]
  (fun x s i => match val i.1, i.2 with
    | 0%N, Some j => if sign j x then 2%:R else 0
    | 0%N, None | 1%N, _ => 2%:R
    | _, _ => 0 end)
  (fun x s i => vec (if i.1 == 1%N :> nat then turned s x else unit F 0))
  (fun _ _ _ => 0).

Notation T := (bool * gT * bool * gT * bool)%type.
Definition reached (p : T) : state :=
  let: (odd, y, bx, z, bz) := p in
  [ffun i : place => match val i.1 with
    | 0%N => flag (if i.2 is Some j then sign j y else odd)
    | 1%N => rows odd (signed bx (lift (part y))) (signed bz (lift z))
    | _ => 1%:M end].
Definition partner (p : T) := let: (_, _, _, z, _) := p in z.
Definition total (p : T) := let: (_, y, _, _, _) := p in y.

Lemma start_reached : start two = reached (false, 1, false, 1, false)%g.
Proof.
apply/ffunP => i; rewrite !ffunE.
by case: i => [[[|[|i]] ?] [j|]] //=; rewrite ?sign1.
Qed.

Lemma shown_reached odd y bx z bz : let s := reached (odd, y, bx, z, bz) in
  shown s None = odd /\ [ffun j => shown s (Some j)] = sign_of y.
Proof.
split=> [|]; first by rewrite /shown ffunE flag_shows.
by apply/ffunP => j; rewrite /shown !ffunE flag_shows.
Qed.

Lemma turned_norm s x : norm (turned s x) = 1.
Proof.
rewrite /turned /mirror; case: ifP => _; case: ifP => xA; rewrite ?norm_conj ?norm_unit0 //;
  by have [-> ] := lift_rotations.
Qed.

Lemma read_reached p x : partner p \in even sign -> exists2 p',
  partner p' \in even sign & read two (reached p) x = reached p' /\ total p' = (total p * x)%g.
Proof.
case: p => [[[[odd y] bx] z] bz]; rewrite /partner /total => zA; have [n1 M _] := lift_rotations.
have aA := change_even y x; set a := change _ x in aA.
have [b xa] := M _ _ (part_even y) aA; rewrite -part_change in xa.
have [c zc] := lift_conj zA; have [c' ac] := lift_conj aA.
have [z' z'A [bz' zE]] : exists2 z', z' \in even sign & exists b',
    other odd (signed bz (lift z)) (lift a) = signed b' (lift z').
  rewrite /other signed_conj zc ac !(signed_timesl, signed_timesr, signed_signed).
  case: odd.
    have [b' ->] := M _ _ aA (evenV zA); exists (a * z^-1)%g; first exact: evenM (evenV zA).
    by rewrite signed_signed; eexists.
  have [b' ->] := M _ _ (evenV zA) (evenV aA); exists (z^-1 * a^-1)%g.
    exact: evenM (evenV zA) (evenV aA).
  by rewrite signed_signed; eexists.
exists (~~ odd, (y * x)%g, bx (+) b, z', bz') => //; split=> //.
have [so se] := shown_reached odd y bx z bz.
apply/ffunP => i; rewrite [LHS]ffunE [RHS]ffunE /update mul0mx scaler0 addr0.
rewrite [X in X *m _]ffunE.
case: i => [[[|[|i]] lt] h] /=; last by rewrite scale0r subr0 mulmx1.
  case: h => [j|]; last by rewrite flag_flip.
  rewrite sign_signs; case: (sign j x); rewrite ?addbT ?addbF ?flag_flip //.
  by rewrite scale0r subr0 mulmx1.
by rewrite /turned so se aA one_factor ?n1 // -zE signed_timesl xa signed_signed.
Qed.

Lemma reached_total p p' : partner p \in even sign -> partner p' \in even sign ->
  reached p = reached p' -> total p = total p'.
Proof.
case: p => [[[[odd y] bx] z] bz]; case: p' => [[[[odd' y'] bx'] z'] bz'].
rewrite /partner /total => zA zA' e.
have [so se] := shown_reached odd y bx z bz; have [so' se'] := shown_reached odd' y' bx' z' bz'.
rewrite e so' se' in so se; rewrite -so in e.
have [n1 _ inj] := lift_rotations; apply: part_inj; first exact/esym.
have /ffunP /(_ (1, None)) := e; rewrite !ffunE /= => /rows_show.
rewrite !norm_signed !n1 ?part_even // => /(_ erefl erefl erefl erefl) same.
suff [b] : exists b, lift (part y) = signed b (lift (part y')) by apply: inj; apply: part_even.
have back q q' : signed bx q = q' -> q = signed bx q'.
  by move=> <-; rewrite signed_signed addbb.
case: same => [/back ->|/back ->]; first by rewrite signed_signed; eexists.
by rewrite -[minus _]/(signed true _) !signed_signed; eexists.
Qed.

(* Let the elements of a finite group have signs, each of a product the product of those of its
   factors, and let the elements whose signs are all 1 be rotations of space: each stands for
   quaternions q and - q. Then two layers track the group, and so does any larger number. *)
Theorem signs_and_rotations : tracked F gT L.+2.
Proof.
exists (option J : finType), 4%N, 4%N, two.
have run_reached w : exists2 p,
    partner p \in even sign & run two w = reached p /\ total p = product w.
  elim/last_ind: w => [|w x [p pA [e t]]].
    exists (false, 1, false, 1, false)%g; first exact: even1.
    by rewrite [run _ _]start_reached Diagonal.product_nil.
  have [p' pA' [e' t']] := read_reached x pA; exists p' => //.
  by rewrite /run foldl_rcons -/(run two w) e e' t' t -cats1 Diagonal.product_cat Diagonal.product1.
split.
- move=> x s t [[[|[|i]] lt] h] same; split=> //; congr vec; rewrite /= /turned.
  have eh h' : shown s h' = shown t h' by rewrite /shown (same (ord0, h')).
  have -> : [ffun j => shown s (Some j)] = [ffun j => shown t (Some j)].
    by apply/ffunP => j; rewrite !ffunE eh.
  by rewrite eh.
- move=> x s i; split; last first.
    by apply: vec_norm; case: eqP => _; rewrite ?norm_unit0 ?turned_norm.
  have two2 : 0 <= (2%:R : F) <= 2%:R by rewrite ler0n Order.POrderTheory.lexx.
  have zero2 : 0 <= (0 : F) <= 2%:R by rewrite Order.POrderTheory.lexx ler0n.
  by case: i => [[[|[|i]] lt] [j|]] //=; case: ifP.
- exists [seq reached p | p in [pred p | partner p \in even sign]].
    by rewrite start_reached image_f // inE even1.
  by move=> x _ /imageP [p pA ->]; have [p' pA' [-> _]] := read_reached x pA; apply: image_f.
exists (fun s _ => odflt 1%g (omap total [pick p | (partner p \in even sign) && (reached p == s)])).
move=> w x; have [p pA [-> <-]] := run_reached (rcons w x).
case: pickP => [p' /andP [pA' /eqP e]|/(_ p)] /=; first exact: reached_total.
by rewrite pA eqxx.
Qed.

End TwoLayers.

(* --- icosians --- *)

(* a + b phi with phi^2 = phi + 1, and quaternions of such coordinates. *)
Definition golden := (int * int)%type.
Definition golden4 := (golden * golden * golden * golden)%type.
Implicit Types (r : golden) (q : golden4).

Definition gadd r r' : golden := (r.1 + r'.1, r.2 + r'.2).
Definition gopp r : golden := (- r.1, - r.2).
Definition gmul r r' : golden := (r.1 * r'.1 + r.2 * r'.2, r.1 * r'.2 + r.2 * r'.1 + r.2 * r'.2).
Definition gsum r r' r'' r''' := gadd (gadd (gadd r r') r'') r'''.

Definition each (f : golden -> golden) q : golden4 :=
  let: (a, b, c, d) := q in (f a, f b, f c, f d).
Definition gtimes q q' : golden4 :=
  let: (a, b, c, d) := q in let: (a', b', c', d') := q' in
  (gsum (gmul a a') (gopp (gmul b b')) (gopp (gmul c c')) (gopp (gmul d d')),
   gsum (gmul a b') (gmul b a') (gmul c d') (gopp (gmul d c')),
   gsum (gmul a c') (gopp (gmul b d')) (gmul c a') (gmul d b'),
   gsum (gmul a d') (gmul b c') (gopp (gmul c b')) (gmul d a')).
Definition gnorm q : golden :=
  let: (a, b, c, d) := q in gsum (gmul a a) (gmul b b) (gmul c c) (gmul d d).
Definition double r := gadd r r.
Definition half r : golden := ((r.1 %/ 2)%Z, (r.2 %/ 2)%Z).

(* A permutation of five letters by its images, first c and then c'. *)
Definition follow (c c' : seq nat) := [seq nth 0%N c' i | i <- c].

(* Twice an icosian, with the even permutation that it stands for: two of them make all. *)
Definition entry := (seq nat * golden4)%type.
Definition generators : seq entry :=
  [:: ([:: 0; 3; 1; 2; 4]%N, ((1, 0), (1, 0), (1, 0), (1, 0)));
      ([:: 1; 2; 4; 0; 3]%N, ((0, 1), (1, 0), (-1, 1), (0, 0)))].
Definition spread (t : seq entry) :=
  foldl (fun t' e => if e.1 \in unzip1 t' then t' else rcons t' e) t
    [seq (follow e.1 g.1, each half (gtimes e.2 g.2)) | e <- t, g <- generators].
Definition one : entry := ([:: 0; 1; 2; 3; 4]%N, ((2%:R, 0), (0, 0), (0, 0), (0, 0))).
Definition icosahedral := Eval vm_compute in iter 10 spread [:: one].

Definition listed c := c \in unzip1 icosahedral.
Definition lifted c : golden4 := (nth one icosahedral (index c (unzip1 icosahedral))).2.

(* What the kernel computes: products of listed permutations are those of their quaternions, up to
   the sign; no two quaternions are equal up to the sign, since a^2 + a b - b^2 is not 0 for some
   coordinate a + b phi of their difference; and as to who is listed permutations have a sign. *)
Definition gdiff q q' : seq golden :=
  let: (a, b, c, d) := q in let: (a', b', c', d') := q' in
  [:: gadd a (gopp a'); gadd b (gopp b'); gadd c (gopp c'); gadd d (gopp d')].
Definition field_norm r := r.1 * r.1 + r.1 * r.2 - r.2 * r.2.
Definition apart q q' := has (fun r => field_norm r != 0) (gdiff q q').

Definition same_product (e e' : entry) := let q := lifted (follow e.1 e'.1) in
  (gtimes e.2 e'.2 == each double q) || (gtimes e.2 e'.2 == each double (each gopp q)).
Definition told_apart (e e' : entry) :=
  (e.1 == e'.1) || apart e.2 e'.2 && apart e.2 (each gopp e'.2).
Definition same_sign c c' := ~~ listed (follow c c') == ~~ listed c (+) ~~ listed c'.

Lemma products_right : all (fun e => all (same_product e) icosahedral) icosahedral.
Proof. by vm_compute. Qed.
Lemma norms_right : all (fun e => gnorm e.2 == (4%:R, 0)) icosahedral.
Proof. by vm_compute. Qed.
Lemma apart_right : all (fun e => all (told_apart e) icosahedral) icosahedral.
Proof. by vm_compute. Qed.
Lemma signs_right :
  all (fun c => all (same_sign c) (permutations (iota 0 5))) (permutations (iota 0 5)).
Proof. by vm_compute. Qed.

Lemma listed_entry c : listed c -> exists2 e : entry, e \in icosahedral & e.1 = c /\ e.2 = lifted c.
Proof.
move=> cl; exists (nth one icosahedral (index c (unzip1 icosahedral))).
  by rewrite mem_nth // -(size_map fst) index_mem.
by rewrite -(nth_map one [::]) ?nth_index // -(size_map fst) index_mem.
Qed.

Lemma lifted_products c c' : listed c -> listed c' ->
  exists b : bool, gtimes (lifted c) (lifted c') =
    each double (if b then each gopp (lifted (follow c c')) else lifted (follow c c')).
Proof.
move=> /listed_entry [e el [<- <-]] /listed_entry [e' el' [<- <-]].
have := allP (allP products_right e el) e' el'; rewrite /same_product.
by case/orP => /eqP ->; [exists false | exists true].
Qed.

Lemma lifted_norm c : listed c -> gnorm (lifted c) = (4%:R, 0).
Proof. by move=> /listed_entry [e el [_ <-]]; apply/eqP/(allP norms_right e el). Qed.

Lemma lifted_apart c c' : listed c -> listed c' -> c != c' ->
  apart (lifted c) (lifted c') && apart (lifted c) (each gopp (lifted c')).
Proof.
move=> /listed_entry [e el [<- <-]] /listed_entry [e' el' [<- <-]] /negPf ne.
by have := allP (allP apart_right e el) e' el'; rewrite /told_apart ne.
Qed.

Lemma listed_sign c c' : c \in permutations (iota 0 5) -> c' \in permutations (iota 0 5) ->
  ~~ listed (follow c c') = ~~ listed c (+) ~~ listed c'.
Proof. by move=> cP cP'; apply/eqP/(allP (allP signs_right c cP) c' cP'). Qed.

Section Icosians.

Variable F : rcfType.

Definition phi : F := (1 + Num.sqrt 5%:R) / 2%:R.

Lemma two0 : 2%:R != 0 :> F.
Proof. by rewrite pnatr_eq0. Qed.

Lemma phi2 : phi ^+ 2 = phi + 1.
Proof.
have five : Num.sqrt 5%:R ^+ 2 = 5%:R :> F by rewrite sqr_sqrtr ?ler0n.
rewrite /phi; move: (Num.sqrt _) five => s five.
have -> : ((1 + s) / 2%:R) ^+ 2 = (1 + 2%:R * s + s ^+ 2) / 4%:R.
  by field.
by rewrite five; field.
Qed.

Definition embed r : F := r.1%:~R + r.2%:~R * phi.
Definition icosian q : quaternion F :=
  let: (a, b, c, d) := q in (embed a / 2%:R, embed b / 2%:R, embed c / 2%:R, embed d / 2%:R).

Lemma embed_add r r' : embed (gadd r r') = embed r + embed r'.
Proof. by rewrite /embed /= !rmorphD /=; ring. Qed.

Lemma embed_opp r : embed (gopp r) = - embed r.
Proof. by rewrite /embed /= !rmorphN /=; ring. Qed.

Lemma embed_mul r r' : embed (gmul r r') = embed r * embed r'.
Proof.
rewrite /embed /= !(rmorphD, rmorphM) /=; move: r.1%:~R r.2%:~R r'.1%:~R r'.2%:~R => a b a' b'.
have -> : (a + b * phi) * (a' + b' * phi) = a * a' + (a * b' + b * a') * phi + b * b' * phi ^+ 2.
  by ring.
by rewrite phi2; ring.
Qed.

Lemma embed_neq0 r : field_norm r != 0 -> embed r != 0.
Proof.
apply: contraNneq => e0; have : embed (gmul r (r.1 + r.2, - r.2)) = 0 by rewrite embed_mul e0 mul0r.
rewrite /embed /gmul /= (_ : r.1 * - r.2 + _ + _ = 0); last by ring.
rewrite mul0r addr0 (_ : r.1 * _ + _ = field_norm r); last by rewrite /field_norm; ring.
by move/eqP; rewrite intr_eq0 => /eqP ->.
Qed.

Definition embedded := (embed_add, embed_opp, embed_mul).

Lemma icosian_times q q' q'' : gtimes q q' = each double q'' ->
  times (icosian q) (icosian q') = icosian q''.
Proof.
have halves (v : F) : v = (v + v) / 2%:R by field.
case: q => [[[a b] c] d]; case: q' => [[[a' b'] c'] d']; case: q'' => [[[a'' b''] c''] d''] e.
rewrite /icosian /times; congr (_, _, _, _).
- move: (congr1 (fun q => embed q.1.1.1) e); rewrite /= !embedded => h.
  by rewrite [X in _ = X / _]halves -h; field.
- move: (congr1 (fun q => embed q.1.1.2) e); rewrite /= !embedded => h.
  by rewrite [X in _ = X / _]halves -h; field.
- move: (congr1 (fun q => embed q.1.2) e); rewrite /= !embedded => h.
  by rewrite [X in _ = X / _]halves -h; field.
move: (congr1 (fun q => embed q.2) e); rewrite /= !embedded => h.
by rewrite [X in _ = X / _]halves -h; field.
Qed.

Lemma icosian_minus q : icosian (each gopp q) = minus (icosian q).
Proof. by case: q => [[[a b] c] d]; rewrite /icosian /minus /= !embed_opp !mulNr. Qed.

Lemma icosian_norm q : gnorm q = (4%:R, 0) -> norm (icosian q) = 1.
Proof.
case: q => [[[a b] c] d] /(congr1 embed).
rewrite /= !embedded [RHS]/embed /= mulr0z mul0r addr0 => h.
rewrite /norm /icosian; transitivity ((4%:R : F) / 4%:R); last by field.
by rewrite -[X in _ = X / _]h; field.
Qed.

Lemma icosian_apart q q' : apart q q' -> icosian q <> icosian q'.
Proof.
case: q => [[[a b] c] d]; case: q' => [[[a' b'] c'] d']; rewrite /apart /icosian /= orbF.
have same r r' : field_norm (gadd r (gopp r')) != 0 -> embed r / 2%:R <> embed r' / 2%:R.
  move/embed_neq0; rewrite !embedded subr_eq0 => /eqP ne /mulIf e.
  by apply: ne; apply: e; rewrite invr_eq0 two0.
by case/or4P => /same ne [e0 e1 e2 e3]; apply: ne.
Qed.

Lemma icosian_signed q q' b : apart q q' && apart q (each gopp q') ->
  icosian q <> signed b (icosian q').
Proof.
case/andP => ne ne'; case: b => e; last exact: (icosian_apart ne e).
by apply: (icosian_apart ne'); rewrite icosian_minus.
Qed.

(* --- permutations of five letters --- *)

Definition code (p : {perm 'I_5}) : seq nat := [seq val (p i) | i <- enum 'I_5].

Lemma codeM p p' : code (p * p')%g = follow (code p) (code p').
Proof.
have -> c : follow (code p) c = [seq nth 0%N c (val (p i)) | i <- enum 'I_5].
  by rewrite /follow /code; elim: (enum _) => //= i s ->.
apply: eq_map => i.
by rewrite permM /code (nth_map ord0) ?(nth_ord_enum ord0 (p i)) // size_enum_ord ltn_ord.
Qed.

Lemma code_inj : injective code.
Proof.
move=> p p' /eq_in_map e; apply/permP => i; apply/val_inj/e.
by rewrite mem_enum.
Qed.

Lemma code_permutation p : code p \in permutations (iota 0 5).
Proof.
rewrite mem_permutations; have u : uniq (code p).
  by rewrite map_inj_uniq ?enum_uniq // => i i' /val_inj /perm_inj.
apply: uniq_perm; rewrite ?iota_uniq //.
have sub : {subset code p <= iota 0 5} by move=> _ /mapP [i _ ->]; rewrite mem_iota /=.
by apply: (uniq_min_size u sub _).2; rewrite size_map size_enum_ord.
Qed.

Definition odd_five (_ : 'I_1) p := ~~ listed (code p).
Definition lift_five p := icosian (lifted (code p)).

Lemma signs_five : signs odd_five.
Proof. by move=> j p p'; rewrite /odd_five codeM listed_sign ?code_permutation. Qed.

Lemma even_five p : p \in even odd_five -> listed (code p).
Proof. by rewrite inE => /forallP /(_ ord0); rewrite negbK. Qed.

Lemma rotations_five : rotations (even odd_five) lift_five.
Proof.
split.
- by move=> p /even_five /lifted_norm /icosian_norm.
- move=> p p' /even_five pl /even_five pl'; rewrite /lift_five codeM.
  have [b /(icosian_times) ->] := lifted_products pl pl'; exists b.
  by case: b => //=; rewrite icosian_minus.
move=> p p' /even_five pl /even_five pl' b e; apply: code_inj.
have [same|/(lifted_apart pl pl') ne] := eqVneq (code p) (code p'); first exact: same.
by case: (icosian_signed ne e).
Qed.

(* A subgroup is tracked as the group is. *)
Lemma tracked_subgroup (gT : finGroupType) (G : {group gT}) L :
  tracked F gT L -> tracked F (subg_of G : finGroupType) L.
Proof.
case=> [H [m [d [N [lN dN [Q sQ stay] [readout dec]]]]]].
pose N' := @Stack F (subg_of G : finGroupType) L H m d (start N) (fun x => beta N (sgval x))
  (fun x => key N (sgval x)) (fun x => value N (sgval x)).
have runE w : run N' w = run N [seq sgval x | x <- w].
  rewrite /run; elim: w (start N) (start N') (erefl : start N' = start N) => //= x w IH s s' ->.
  exact: IH.
have productE (w : seq (subg_of G)) : sgval (product w) = product [seq sgval x | x <- w].
  rewrite /product; elim: w => [|x w IH]; first by rewrite !big_nil.
  by rewrite /= !big_cons -IH sgvalM ?inE.
exists H, m, d, N'; split=> //.
- by move=> x s t i; apply: lN.
- by move=> x s i; apply: dN.
- by exists Q => // x s; apply: stay.
exists (fun s x => subg G (readout s (sgval x))) => w x.
by rewrite runE map_rcons dec -map_rcons -productE sgvalK.
Qed.

End Icosians.

Definition least_layers : N := 2.
Lemma least_layersE : nat_of_bin least_layers = 2%N.
Proof. by []. Qed.

(* Claim: least_depth/deltanet_quaternions. For every subgroup of the symmetric group of five
   letters that has an element of order 3 or more, over real numbers, the numbers of layers that
   are enough are those from two on. *)
Theorem deltanet_quaternions (F : rcfType) (G : {group {perm 'I_5}}) x :
  x \in G -> (x * x != 1)%g -> forall L, tracked F (subg_of G : finGroupType) L <->
  (nat_of_bin least_layers <= L)%N.
Proof.
move=> xG x2 L; rewrite least_layersE; split=> [tr|].
  rewrite ltnNge; apply: contra x2 => L1.
  by have := congr1 sgval (one_layer L1 tr (subg G x)); rewrite /= subgK // => ->.
case: L => [|[|L]] // _; apply: tracked_subgroup.
exact: signs_and_rotations signs_five (rotations_five F) L.
Qed.

(* The symmetric group, and its subgroups with a cycle of five letters: with x -> 2 x modulo 5 as p
   that of the maps x -> a x + b. *)
Definition cycle5 : {perm 'I_5} := perm (@addrI _ (1 : 'I_5)).

Lemma cycle5_square : (cycle5 * cycle5 != 1)%g.
Proof. by apply/eqP => /permP /(_ ord0); rewrite !permE /= !permE. Qed.

Example symmetric5_two (F : rcfType) L :
  tracked F (subg_of [set: {perm 'I_5}] : finGroupType) L <-> (nat_of_bin least_layers <= L)%N.
Proof. exact: deltanet_quaternions (in_setT _) cycle5_square L. Qed.

Example affine5_two (F : rcfType) (p : {perm 'I_5}) L :
  tracked F (subg_of <<[set cycle5; p]>> : finGroupType) L <-> (nat_of_bin least_layers <= L)%N.
Proof. by apply: deltanet_quaternions cycle5_square L; rewrite mem_gen // inE set11. Qed.

(* --- cyclic groups as rotations --- *)

Section Cyclic.

Variables (F : realFieldType) (gT : finGroupType) (c : gT) (z : quaternion F).
Hypothesis z1 : norm z = 1.
Implicit Types i j : nat.

Definition power i : quaternion F := iter i (times z) (unit F 0).
Hypothesis z_order : forall i, (exists b, power i = signed b (unit F 0)) <-> (#[c]%g %| i)%N.

Lemma powerD i j : power (i + j) = times (power i) (power j).
Proof.
elim: i => [|i IH]; first by rewrite times1l.
by rewrite addSn /power !iterS -/(power (i + j)) IH timesA.
Qed.

Lemma norm_power i : norm (power i) = 1.
Proof.
elim: i => [|i IH]; first exact: norm_unit0.
by rewrite /power iterS norm_times z1 mul1r -/(power i) IH.
Qed.

Lemma power_mod i : exists b, power i = signed b (power (i %% #[c]%g)).
Proof.
have [b e] := (z_order (i %/ #[c]%g * #[c]%g)).2 (dvdn_mull _ (dvdnn _)).
by exists b; rewrite {1}(divn_eq i #[c]%g) powerD e signed_timesl times1l.
Qed.

Lemma power_inj i j b : (i <= j)%N -> power i = signed b (power j) -> (#[c]%g %| j - i)%N.
Proof.
move=> ij; rewrite -{1}(subnKC ij) powerD => e; apply/z_order; exists b.
move/(congr1 (times (conj (power i)))): e; rewrite signed_timesr timesA.
rewrite conj_timesK ?norm_power // times1l => /(congr1 (signed b)).
by rewrite signed_signed addbb.
Qed.

Definition lift_power x :=
  if [pick i : 'I_#[c]%g | x == (c ^+ i)%g] is Some i then power i else unit F 0.

Lemma lift_powerE i : exists b, lift_power (c ^+ i)%g = signed b (power i).
Proof.
rewrite /lift_power; case: pickP => [j /eqP e|no] /=.
  have [b ->] := power_mod i; exists b; rewrite signed_signed addbb /=.
  move/eqP: e; rewrite eq_expg_mod_order => /eqP ->.
  by rewrite modn_small.
have := no (Ordinal (ltn_pmod i (order_gt0 c))).
by rewrite /= expg_mod_order eqxx.
Qed.

Lemma rotations_cyclic : rotations <[c]>%g lift_power.
Proof.
split.
- by move=> _ /cycleP [i ->]; have [b ->] := lift_powerE i; rewrite norm_signed norm_power.
- move=> _ _ /cycleP [i ->] /cycleP [j ->]; rewrite -expgD.
  have [b ->] := lift_powerE i; have [b' ->] := lift_powerE j; have [b'' e] := lift_powerE (i + j).
  exists (b' (+) b (+) b''); rewrite e signed_timesl signed_timesr !signed_signed powerD.
  by congr signed; case: b b' b'' {e} => [] [] [].
have le i j b : (i <= j)%N -> lift_power (c ^+ i)%g = signed b (lift_power (c ^+ j)%g) ->
    (c ^+ i = c ^+ j)%g.
  move=> ij; have [b1 ->] := lift_powerE i; have [b2 ->] := lift_powerE j.
  move/(congr1 (signed b1)); rewrite !signed_signed addbb => /(power_inj ij) d.
  by apply/eqP; rewrite eq_expg_mod_order eq_sym eqn_mod_dvd.
move=> _ _ /cycleP [i ->] /cycleP [j ->] b e; have [ij|/ltnW ji] := leqP i j; first exact: le e.
by apply/esym/(le _ _ b ji); rewrite e signed_signed addbb.
Qed.

End Cyclic.

(* A finite group with a cyclic subgroup of the elements whose sign is 1, such as a dihedral group,
   and with an element of order 3 or more, takes two layers, where a quaternion of norm 1 has as
   many powers up to the sign as the cyclic subgroup has elements. *)
Theorem dihedral_layers (F : realFieldType) (gT : finGroupType) (sign : 'I_1 -> gT -> bool)
    (c : gT) (z : quaternion F) (x : gT) :
  signs sign -> even sign = <[c]>%g -> norm z = 1 ->
  (forall i, (exists b, power z i = signed b (unit F 0)) <-> (#[c]%g %| i)%N) ->
  (x * x != 1)%g -> forall L, tracked F gT L <-> (nat_of_bin least_layers <= L)%N.
Proof.
move=> sM ec nz oz x2 L; rewrite least_layersE; split=> [tr|].
  by rewrite ltnNge; apply: contra x2 => L1; rewrite (one_layer L1 tr x).
case: L => [|[|L]] // _; apply: (signs_and_rotations sM (lift := lift_power c z)).
by rewrite ec; apply: rotations_cyclic.
Qed.

(* The symmetries of the triangle: the rotations of order 3 by the quaternion (1 + i + j + k)/2. *)
Definition cycle3 : {perm 'I_3} := perm (@addrI _ (1 : 'I_3)).
Definition third (F : realFieldType) : quaternion F :=
  (2%:R^-1, 2%:R^-1, 2%:R^-1, 2%:R^-1).

Lemma order_cycle3 : #[cycle3]%g = 3%N.
Proof.
apply: nt_prime_order => //; last by apply/eqP => /permP /(_ ord0); rewrite !permE.
by apply/permP => i; rewrite !expgS expg0 mulg1 !permM !permE; apply/val_inj; case: i => [[|[|[]]]].
Qed.

Lemma even_cycle3 : even (fun (_ : 'I_1) (p : {perm 'I_3}) => odd_perm p) = <[cycle3]>%g.
Proof.
have -> : even (fun (_ : 'I_1) (p : {perm 'I_3}) => odd_perm p) = ('Alt_('I_3))%g.
  by apply/setP => p; rewrite inE Alt_even; apply/forallP/idP => [/(_ ord0)|].
have A3 : #|('Alt_('I_3))%g| = 3%N.
  apply/eqP; rewrite -(eqn_pmul2l (m := 2)) //.
  by have := @card_Alt ('I_3 : finType); rewrite card_ord => /(_ isT) ->.
apply/esym/eqP; rewrite eqEcard A3 -orderE order_cycle3 leqnn andbT cycle_subG Alt_even.
have := congr1 (fun p : {perm 'I_3} => odd_perm p) (expg_order cycle3).
rewrite order_cycle3 odd_perm1.
by rewrite !expgS expg0 mulg1 !odd_permM; case: (odd_perm _).
Qed.

Lemma third_norm F : norm (third F) = 1.
Proof. by rewrite /norm /third; field. Qed.

Lemma third_cube F : power (third F) 3 = minus (unit F 0).
Proof. by rewrite /power /third /times /unit /minus /=; congr (_, _, _, _); field. Qed.

Lemma third_order F i : (exists b, power (third F) i = signed b (unit F 0)) <-> (3 %| i)%N.
Proof.
have threes n : exists b, power (third F) (n * 3) = signed b (unit F 0).
  elim: n => [|n [b e]]; first by exists false.
  exists (~~ b); rewrite mulSn powerD e third_cube minus_timesl times1l.
  exact: (signed_signed true b).
split=> [[b]|/dvdnP [n ->]]; last exact: threes.
have [b' e] := threes (i %/ 3)%N; rewrite {1}(divn_eq i 3) powerD e signed_timesl times1l.
rewrite /dvdn; have : (i %% 3 < 3)%N by rewrite ltn_mod.
have half0 : (2%:R : F)^-1 <> 0 by apply/eqP; rewrite invr_eq0 pnatr_eq0.
have p1 : power (third F) 1 = third F := times1r _.
have p2 : power (third F) 2 = times (third F) (third F) by rewrite -[in RHS]p1 -powerD.
have no s b'' : (times (third F) s).2 = 2%:R^-1 -> times (third F) s <> signed b'' (unit F 0).
  move=> s2 /(congr1 snd); rewrite s2.
  by case: b''; rewrite /signed /minus /unit /= ?oppr0 => /half0.
case: (i %% 3)%N => [|[|[|//]]] // _ /(congr1 (signed b')); rewrite !signed_signed addbb.
  by rewrite -[power _ 1]/(times _ _) => /no; case; rewrite times1r.
by rewrite p2 => /no; case; rewrite /times /third /=; field.
Qed.

Example triangle_two (F : realFieldType) L :
  tracked F ({perm 'I_3} : finGroupType) L <-> (nat_of_bin least_layers <= L)%N.
Proof.
apply: (dihedral_layers (x := cycle3) _ even_cycle3 (third_norm F)) => [j p q|i|].
- exact: odd_permM.
- by rewrite order_cycle3; apply: third_order.
by apply/eqP => /permP /(_ ord0); rewrite permM !permE.
Qed.

(* --- the period of a letter --- *)

Definition repeated_period : N := 2.
Lemma repeated_periodE : nat_of_bin repeated_period = 2%N.
Proof. by []. Qed.

(* Claim: least_depth/deltanet_period. If the states of a head of one layer return after so many
   steps, an even number, while one letter is repeated, they return after two steps from the first
   step on; and a head is there that does so, but never after one step. *)
Theorem longest_period (F : realFieldType) steps : (0 < steps)%N -> ~~ odd steps ->
  (forall m d (b : F) (k : 'rV_d) (v : 'cV_m) S n, k *m k^T = 1%:M ->
    iter (steps + n) (update b k v) S = iter n (update b k v) S ->
    forall i, iter (nat_of_bin repeated_period + i.+1) (update b k v) S =
              iter i.+1 (update b k v) S) /\
  exists m d (b : F) (k : 'rV_d) (v : 'cV_m) S,
    [/\ 0 <= b <= 2%:R, k *m k^T = 1%:M, iter steps (update b k v) S = S &
        forall p i : nat, (0 < p < nat_of_bin repeated_period)%N ->
          iter (p + i) (update b k v) S <> iter i (update b k v) S].
Proof.
rewrite repeated_periodE => p0 even_p; split.
  by move=> m d b k v S n k1 back i; apply: (repeated_letter k1 p0 back).
have one1 : (1%:M : 'rV[F]_1) *m 1%:M^T = 1%:M by rewrite trmx1 mulmx1.
pose f := update (2%:R : F) (1%:M : 'rV_1) (0 : 'cV_1).
have fE S : f S = - S.
  rewrite /f /update trmx1 mulmx1 mul0mx scaler0 addr0 mulmxBr mulmx1 -scalemxAr mulmx1.
  by rewrite scaler_nat mulr2n opprD addNKr.
have iterE i : iter i f 1%:M = (-1) ^+ i *: 1%:M.
  elim: i => [|i IH]; first by rewrite scale1r.
  by rewrite iterS fE IH exprS mulN1r scaleNr.
exists 1%N, 1%N, 2%:R, 1%:M, 0, 1%:M; split=> //.
- by rewrite ler0n Order.POrderTheory.lexx.
- by rewrite [LHS](iterE steps) -signr_odd (negbTE even_p) scale1r.
case=> [|[|//]] i // _; rewrite -/f !iterE => /matrixP /(_ ord0 ord0); rewrite !mxE /= !mulr1.
move/eqP; rewrite add1n exprS mulN1r eq_sym -addr_eq0 -mulr2n mulrn_eq0 /=.
by rewrite signr_eq0.
Qed.

Example six_steps (F : realFieldType) (b : F) (k : 'rV_3) (v : 'cV_2) S :
  k *m k^T = 1%:M -> iter 6 (update b k v) S = S -> iter 3 (update b k v) S = update b k v S.
Proof.
have [every _] := @longest_period F 6 isT isT => k1 back.
exact: every 0%N k1 back 0%N.
Qed.
