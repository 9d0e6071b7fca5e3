(* Diagonal: how many diagonal layers with finitely many states track a group.

   The layers of theory/least_depth/group_words.py, h -> lambda h + b, over any field of
   characteristic 0. The eigenvalues lambda, the input terms b and the read-out are arbitrary
   functions of the letter and of the states of the layers below, which are those before the letter:
   those after it are functions of these and the letter. Updates are exact. The letters are the
   elements of a finite group, all of them. Layers that round after each update stay informal. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_fingroup all_algebra all_solvable all_field.
From mathcomp Require Import ring.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GroupScope GRing.Theory Num.Theory.

(* --- the layers --- *)

Section Layers.

Variables (F : fieldType) (gT : finGroupType).
Implicit Types (w u v : seq gT) (x g h : gT).

(* A stack of k layers with states of width d: row l of a matrix is the state of layer l. *)
Record stack k d := Stack
  { start : 'M[F]_(k, d);
    eigenvalue : gT -> 'M[F]_(k, d) -> 'M[F]_(k, d);
    input : gT -> 'M[F]_(k, d) -> 'M[F]_(k, d) }.

Definition below k d l (s t : 'M[F]_(k, d)) :=
  [forall i : 'I_k, (i < l)%N ==> (row i s == row i t)].

(* What layer l reads are the letter and the states of the layers below it. *)
Definition layered k d (N : stack k d) := forall x s t (l : 'I_k), below l s t ->
  row l (eigenvalue N x s) = row l (eigenvalue N x t) /\ row l (input N x s) = row l (input N x t).

Definition read k d (N : stack k d) (s : 'M[F]_(k, d)) x : 'M[F]_(k, d) :=
  (\matrix_(l, j) (eigenvalue N x s l j * s l j + input N x s l j))%R.
Definition run k d (N : stack k d) w := foldl (read N) (start N) w.

(* A finite set of states that has the start in it and that no letter leaves. *)
Definition finite_states k d (N : stack k d) :=
  exists2 Q : seq 'M[F]_(k, d), start N \in Q & forall x s, s \in Q -> read N s x \in Q.

Definition product w := \prod_(x <- w) x.

(* A read-out sees all states and the last letter. *)
Definition decodes k d (N : stack k d) := exists readout : 'M[F]_(k, d) -> gT -> gT,
  forall w x, readout (run N (rcons w x)) x = product (rcons w x).

Definition tracked k := exists d (N : stack k d), [/\ layered N, finite_states N & decodes N].

Definition roots m k d (N : stack k d) := forall x s l j, (eigenvalue N x s l j ^+ m = 1)%R.

Definition tracked_by_roots m k :=
  exists d (N : stack k d), [/\ layered N, finite_states N, roots m N & decodes N].

End Layers.

(* --- series --- *)

Definition smaller (gT : finGroupType) m (A : {set gT}) : {set gT} :=
  <<[~: A, A] :|: [set x ^+ m | x in A]>>.
Definition series (gT : finGroupType) m (A : {set gT}) i := iter i (smaller m) A.

(* --- words that return --- *)

Section Words.

Variables (gT : finGroupType) (m : nat).
Hypothesis m_gt0 : (0 < m)%N.
Implicit Types (w u v : seq gT) (x g h : gT).

Fixpoint repeat n w := if n is n'.+1 then w ++ repeat n' w else [::].

Inductive returning (P : seq gT -> Prop) : nat -> seq gT -> Prop :=
| Given w of P w : returning P 0 w
| Nothing i : returning P i [::]
| Both i u v of returning P i u & returning P i v : returning P i (u ++ v)
| Power i u of returning P i u : returning P i.+1 (repeat m u)
| Commutator i u v of returning P i u & returning P i v :
    returning P i.+1 (repeat m.-1 u ++ repeat m.-1 v ++ u ++ v).

Lemma product_cat u v : product (u ++ v) = product u * product v.
Proof. by rewrite /product big_cat. Qed.

Lemma product_repeat n u : product (repeat n u) = product u ^+ n.
Proof.
elim: n => [|n IH]; first by rewrite /product big_nil.
by rewrite /= product_cat IH expgS.
Qed.

Lemma product_nil : product [::] = 1 :> gT.
Proof. by rewrite /product big_nil. Qed.

Lemma product1 x : product [:: x] = x.
Proof. by rewrite /product big_seq1. Qed.

Lemma group_set_series (G : {group gT}) i : group_set (series m G i).
Proof. by case: i => [|i]; rewrite groupP. Qed.
Canonical series_group G i := Group (group_set_series G i).

Lemma seriesS (A : {set gT}) i : series m A i.+1 = smaller m (series m A i).
Proof. by []. Qed.

(* Every element of the series is the product of a word that returns so many layers. *)
Lemma returning_words (P : seq gT -> Prop) :
  (forall g, exists2 w, P w & product w = g) ->
  forall i g, g \in series m [set: gT] i -> exists2 w, returning P i w & product w = g.
Proof.
move=> all_given; elim=> [|i IH] g.
  by have [w Pw <-] := all_given g => _; exists w => //; apply: Given.
have products : forall A : {set gT},
    (forall g, g \in A -> exists2 w, returning P i.+1 w & product w = g) ->
    forall g, g \in <<A>> -> exists2 w, returning P i.+1 w & product w = g.
  move=> A all_A h /gen_prodgP [n [c Ac ->]].
  elim/big_ind: _ => [|_ _ [u Ru <-] [v Rv <-]|j _]; last exact: all_A.
    by exists [::]; [apply: Nothing | rewrite product_nil].
  by exists (u ++ v); [apply: Both | rewrite product_cat].
have powers h : h \in series m setT i -> exists2 w, returning P i.+1 w & product w = h ^+ m.
  by case/IH=> u Ru <-; exists (repeat m u); [apply: Power | rewrite product_repeat].
rewrite seriesS; apply: (products) => {}g.
rewrite inE => /orP [|/imsetP [h hG ->]]; last exact: powers.
apply: (products) => {}g /imset2P [a b aG bG ->].
have [u Ru ua] := IH _ aG; have [v Rv vb] := IH _ bG.
have [p Rp pE] := powers _ (groupVr (groupJ bG aG)); have [q Rq qE] := powers _ (groupVr aG).
exists (p ++ q ++ (repeat m.-1 u ++ repeat m.-1 v ++ u ++ v)).
  by do 2![apply: Both => //]; apply: Commutator.
rewrite !product_cat !product_repeat pE qE ua vb commgEl.
have pred_pow x : x ^+ m.-1 = x ^+ m * x^-1 by rewrite -{2}(prednK m_gt0) expgSr mulgK.
rewrite !pred_pow !expgVn -conjXg !conjgE; gsimpl.
Qed.

End Words.

(* --- too few layers --- *)

Section Lower.

Variables (F : fieldType) (gT : finGroupType) (k d : nat) (N : stack F gT k d).
Hypothesis char0 : [char F]%R =i pred0.
Hypothesis N_layered : layered N.
Variable Q : seq 'M[F]_(k, d).
Hypothesis stay : forall x s, s \in Q -> read N s x \in Q.
Implicit Types (w u v : seq gT) (x g h : gT) (s : 'M[F]_(k, d)) (l : nat).

Lemma belowP l s1 s2 : reflect (forall i : 'I_k, (i < l)%N -> row i s1 = row i s2) (below l s1 s2).
Proof.
by apply: (iffP forallP) => H i; [move/(implyP (H i))/eqP | apply/implyP => /H ->].
Qed.

Lemma below_refl l s : below l s s.
Proof. exact/belowP. Qed.

Lemma below_sym l s1 s2 : below l s1 s2 -> below l s2 s1.
Proof. by move/belowP => H; apply/belowP => i /H. Qed.

Lemma below_trans l s1 s2 s3 : below l s1 s2 -> below l s2 s3 -> below l s1 s3.
Proof. by move=> /belowP H /belowP K; apply/belowP => i il; rewrite H ?K. Qed.

Lemma belowS l s1 s2 : below l s1 s2 ->
  (forall i : 'I_k, i = l :> nat -> forall j, s1 i j = s2 i j) -> below l.+1 s1 s2.
Proof.
move=> /belowP H K; apply/belowP => i; rewrite ltnS leq_eqVlt => /orP [/eqP il|/H //].
by apply/rowP => j; rewrite !mxE K.
Qed.

Lemma below_le l l' s1 s2 : (l <= l')%N -> below l' s1 s2 -> below l s1 s2.
Proof. by move=> le /belowP H; apply/belowP => i il; apply/H/(leq_trans il). Qed.

Lemma read_same s1 s2 x (l : 'I_k) j : below l s1 s2 ->
  eigenvalue N x s1 l j = eigenvalue N x s2 l j /\ input N x s1 l j = input N x s2 l j.
Proof.
by move/(N_layered x) => [/rowP /(_ j) + /rowP /(_ j)]; rewrite !mxE.
Qed.

Lemma below_read l s1 s2 x : below l s1 s2 -> below l (read N s1 x) (read N s2 x).
Proof.
move=> /belowP H; apply/belowP => i il; apply/rowP => j; rewrite !mxE.
have [|-> ->] := @read_same s1 s2 x i j; first exact/(below_le (ltnW il))/belowP.
by have /rowP /(_ j) := H i il; rewrite !mxE => ->.
Qed.

Notation T := (seq_sub Q : finType).
Implicit Type t : T.

Definition next t x : T := SeqSub (stay x (ssvalP t)).
Definition act t w : T := foldl next t w.

Lemma act_cat t u v : act t (u ++ v) = act (act t u) v.
Proof. by rewrite /act foldl_cat. Qed.

Lemma act_repeat n t u : act t (repeat n u) = iter n (act^~ u) t.
Proof. by elim: n t => //= n IH t; rewrite act_cat IH -iterSr. Qed.

Lemma val_act t w : val (act t w) = foldl (read N) (val t) w.
Proof. by elim: w t => //= x w IH t; rewrite IH. Qed.

Lemma affine m w (l : 'I_k) j t : exists a b, (roots m N -> (a ^+ m = 1)%R) /\
  forall t', below l (val t) (val t') -> (val (act t' w) l j = a * val t' l j + b)%R.
Proof.
elim: w t => [|x w IH] t.
  by exists 1%R, 0%R; split=> [|t' _]; rewrite ?expr1n // mul1r addr0.
have [a [b [rt ab]]] := IH (next t x).
exists (a * eigenvalue N x (val t) l j)%R, (a * input N x (val t) l j + b)%R.
split=> [r|t' same]; first by rewrite exprMn rt // r mulr1.
rewrite /= ab /= ?mxE; last exact: below_read.
by have [-> ->] := read_same x j same; rewrite mulrDr addrA mulrA.
Qed.

Variable X : {set T}.

Definition good w := {in X &, injective (act^~ w)} /\ {in X, forall t, act t w \in X}.
Definition returns l w := {in X, forall t, below l (val t) (val (act t w))}.

Lemma good_nil : good [::].
Proof. by split. Qed.

Lemma good_cat u v : good u -> good v -> good (u ++ v).
Proof.
move=> [ui uX] [vi vX]; split=> [t1 t2 t1X t2X|t tX]; last by rewrite act_cat vX ?uX.
by rewrite !act_cat => /vi -/(_ (uX _ t1X) (uX _ t2X)) /ui; apply.
Qed.

Lemma good_repeat n u : good u -> good (repeat n u).
Proof. by move=> gu; elim: n => [|n IH]; [apply: good_nil | apply: good_cat]. Qed.

Lemma returns_cat l u v : good u -> returns l u -> returns l v -> returns l (u ++ v).
Proof.
move=> [_ uX] ru rv t tX; rewrite act_cat.
by apply: below_trans (ru t tX) _; apply/rv/uX.
Qed.

Lemma returns_repeat l n u : good u -> returns l u -> returns l (repeat n u).
Proof.
move=> gu ru; elim: n => [|n IH]; first by move=> t _; apply: below_refl.
exact: returns_cat.
Qed.

Section Fiber.

Variables (m : nat) (l : 'I_k) (j : 'I_d) (t : T).
Hypothesis tX : t \in X.

Definition fiber := [set t' in X | below l (val t) (val t')].
Definition deviation t' : F :=
  (#|fiber|%:R * val t' l j - \sum_(t2 in fiber) val t2 l j)%R.

Lemma fiber_t : t \in fiber.
Proof. by rewrite inE tX below_refl. Qed.

Lemma fiber_act u t' : good u -> returns l u -> t' \in fiber -> act t' u \in fiber.
Proof.
move=> [_ uX] ru; rewrite !inE => /andP [t'X tt'].
by rewrite uX //=; apply: below_trans tt' _; apply: ru.
Qed.

Lemma deviation_act u : good u -> returns l u -> exists a, (roots m N -> (a ^+ m = 1)%R) /\
  forall t', t' \in fiber -> (deviation (act t' u) = a * deviation t')%R.
Proof.
move=> gu ru; have [a [b [rt ab]]] := affine m u l j t; exists a; split=> // t' t'A.
have same : forall t2, t2 \in fiber -> (val (act t2 u) l j = a * val t2 l j + b)%R.
  by move=> t2; rewrite inE => /andP [_ /ab].
have ontoA : act^~ u @: fiber = fiber.
  apply/eqP; rewrite eqEcard card_in_imset ?leqnn ?andbT.
    by apply/subsetP => _ /imsetP [t2 t2A ->]; apply: fiber_act.
  by move=> t1 t2; rewrite !inE => /andP [t1X _] /andP [t2X _]; apply: gu.1.
have total : (\sum_(t2 in fiber) val t2 l j
              = a * (\sum_(t2 in fiber) val t2 l j) + #|fiber|%:R * b)%R.
  rewrite -[in LHS]ontoA big_imset /=; last first.
    by move=> t1 t2; rewrite !inE => /andP [t1X _] /andP [t2X _]; apply: gu.1.
  by rewrite (eq_bigr _ same) big_split /= mulr_sumr sumr_const mulr_natl.
rewrite /deviation same // {1}total; ring.
Qed.

Lemma deviation_repeat n u a : good u -> returns l u ->
  (forall t', t' \in fiber -> (deviation (act t' u) = a * deviation t')%R) ->
  forall t', t' \in fiber ->
    act t' (repeat n u) \in fiber /\ (deviation (act t' (repeat n u)) = a ^+ n * deviation t')%R.
Proof.
move=> gu ru au; elim: n => [|n IH] t' t'A; first by rewrite expr0 mul1r.
rewrite [repeat _ _]/= act_cat; have [inA ->] := IH _ (fiber_act gu ru t'A).
by rewrite au // exprSr mulrA.
Qed.

Lemma deviation_inj t' : deviation t' = deviation t -> val t' l j = val t l j.
Proof.
move/addIr/(mulfI _); apply.
by rewrite ((charf0P F).1 char0) -lt0n; apply/card_gt0P; exists t; apply: fiber_t.
Qed.

End Fiber.

Section Return.

Variable m : nat.
Hypothesis m_gt0 : (0 < m)%N.
Hypothesis powers_return : forall l u, good u -> returns l u -> returns l.+1 (repeat m u).

Lemma commutators_return l u v : good u -> good v -> returns l u -> returns l v ->
  returns l.+1 (repeat m.-1 u ++ repeat m.-1 v ++ u ++ v).
Proof.
move=> gu gv ru rv t tX; apply: belowS => [|i il j].
  apply: (returns_cat (good_repeat _ gu) (returns_repeat _ gu ru)) tX.
  apply: (returns_cat (good_repeat _ gv) (returns_repeat _ gv rv)).
  exact: returns_cat.
rewrite -il in ru rv; have powers := powers_return.
have [a [_ au]] := deviation_act m j t gu ru; have [b [_ bv]] := deviation_act m j t gv rv.
have ku n t' := deviation_repeat n gu ru au (t' := t').
have kv n t' := deviation_repeat n gv rv bv (t' := t').
have tA := fiber_t i tX.
apply/esym/(deviation_inj tX).
have [A1 d1] := ku m.-1 _ tA; have [A2 d2] := kv m.-1 _ A1.
rewrite !act_cat bv ?au ?d2 ?d1 //; last exact: (fiber_act gu).
have [B1 e1] := ku m _ tA; have [B2 e2] := kv m _ B1.
transitivity (deviation i j t (act (act t (repeat m u)) (repeat m v))).
  by rewrite e2 e1 -{3 4}(prednK m_gt0) !exprS; ring.
have: below i.+1 (val t) (val (act t (repeat m u ++ repeat m v))).
  apply: returns_cat => //; [exact: good_repeat | exact: powers | exact: powers].
move/belowP/(_ i (ltnSn i))/rowP/(_ j); rewrite !mxE act_cat /deviation => <- //.
Qed.

Lemma returning_returns (P : seq gT -> Prop) : (forall w, P w -> good w) ->
  forall l w, returning m P l w -> good w /\ returns l w.
Proof.
move=> all_good l w; elim=> {l w}.
- by move=> w Pw; split=> [|t _]; [apply: all_good | apply/belowP].
- by move=> i; split=> [|t _]; [apply: good_nil | apply: below_refl].
- by move=> i u v _ [gu ru] _ [gv rv]; split; [apply: good_cat | apply: returns_cat].
- by move=> i u _ [gu ru]; split; [apply: good_repeat | apply: powers_return].
- move=> i u v _ [gu ru] _ [gv rv]; split; last exact: commutators_return.
  by do ![apply: good_cat | apply: good_repeat].
Qed.

End Return.

End Lower.

(* --- characters --- *)
Section Characters.
Variables (F : fieldType).

Lemma cyclic_character (gT : finGroupType) (c : gT) (z : F) : (#[c].-primitive_root z)%R ->
  exists chi : gT -> F, [/\ {in <[c]> &, forall x y, chi (x * y) = (chi x * chi y)%R},
    forall x, (chi x ^+ #[c] = 1)%R & forall x, x \in <[c]> -> chi x = 1%R -> x = 1].
Proof.
move=> zP; pose chi x := if [pick i : 'I_#[c] | x == c ^+ i] is Some i then (z ^+ i)%R else 1%R.
have chiE i : chi (c ^+ i) = (z ^+ i)%R.
  rewrite /chi; case: pickP => [i' /eqP/eqP|/(_ (Ordinal (ltn_pmod i (order_gt0 c)))) /=].
    by rewrite eq_expg_mod_order => e; apply/eqP; rewrite (eq_prim_root_expr zP) eq_sym.
  by rewrite expg_mod_order eqxx.
exists chi; split.
- by move=> _ _ /cycleP [i ->] /cycleP [i' ->]; rewrite -expgD !chiE exprD.
- move=> x; rewrite /chi; case: pickP => [i _|_]; last by rewrite expr1n.
  by rewrite exprAC (prim_expr_order zP) expr1n.
- move=> _ /cycleP [i ->]; rewrite chiE => /eqP.
  by rewrite -(prim_order_dvd zP) order_dvdn => /eqP.
Qed.

(* The characters to the m-th roots of unity tell the elements of an abelian group apart. *)
Lemma abelian_character (gT : finGroupType) (A : {group gT}) m (z : F) :
  (m.-primitive_root z)%R -> abelian A -> exponent A %| m -> forall a, a \in A -> a != 1 ->
  exists chi : gT -> F, [/\ {in A &, forall x y, chi (x * y) = (chi x * chi y)%R},
    forall x, (chi x ^+ m = 1)%R & chi a != 1%R].
Proof.
move=> zP abA expA; have [b bA _] := abelian_structure abA.
have m_gt0 := prim_order_gt0 zP.
elim: b A abA expA bA => [|c b IH] A abA expA.
  by rewrite big_nil => <- a /set1P ->; rewrite eqxx.
rewrite big_cons => bA; have [[_ B _ BE] BA cB tiB] := dprodP bA.
rewrite BE in bA BA cB tiB.
have sB : B \subset A by rewrite -BA mulG_subr.
have sc : <[c]> \subset A by rewrite -BA mulG_subl.
have cA : c \in A by rewrite -cycle_subG.
have comp : B \in [complements to <[c]> in A] by apply/complP.
have comp' : <[c]>%G \in [complements to B in A].
  by apply/complP; rewrite setIC tiB; split=> //; rewrite -BA -(centC cB).
move=> a aA a1.
have [p1|p1] := eqVneq (remgr <[c]> B a) 1; last first.
  have [|chi [chiM chim chi1]] := IH B (abelianS sB abA) (dvdn_trans (exponentS sB) expA) BE
    (remgr <[c]> B a) _ p1; first by rewrite mem_remgr ?BA.
  exists (fun x => chi (remgr <[c]> B x)); split=> // x y xA yA.
  rewrite (remgrM comp) ?chiM ?mem_remgr ?BA //.
  by rewrite /normal sc (subset_trans _ (sub_abelian_norm abA sc)).
have ac : divgr <[c]> B a \in <[c]> by rewrite mem_divgr ?BA.
have a1' : divgr <[c]> B a != 1.
  by apply: contra_neq a1 => e; rewrite (divgr_eq <[c]> B a) p1 e mulg1.
have dc : #[c] %| m by apply: dvdn_trans expA; apply: dvdn_exponent.
have zc := dvdn_prim_root zP dc.
have [chi [chiM chim chi1]] := cyclic_character zc.
exists (fun x => chi (divgr <[c]> B x)); split.
- by move=> x y xA yA; rewrite (divgrM comp cB) // chiM ?mem_divgr ?BA.
- by move=> x; have /dvdnP [q ->] := dc; rewrite mulnC exprM chim expr1n.
- by apply: contra_neq a1'; apply: chi1.
Qed.

(* Those of a factor, as functions on the larger group. *)
Lemma factor_character (gT : finGroupType) (H K : {group gT}) m (z : F) :
  (m.-primitive_root z)%R -> K <| H -> abelian (H / K) -> {in H, forall x, x ^+ m \in K} ->
  forall a, a \in H -> a \notin K ->
  exists chi : gT -> F, [/\ {in H &, forall x y, chi (x * y) = (chi x * chi y)%R},
    {in H & K, forall x y, chi (x * y) = chi x}, forall x, (chi x ^+ m = 1)%R & chi a != 1%R].
Proof.
move=> zP /andP [KH nKH] ab pow a aH aK.
have nK x : x \in H -> x \in 'N(K) by apply/subsetP.
have expm : exponent (H / K) %| m.
  apply/exponentP => _ /morphimP [x xN xH ->].
  by rewrite -morphX //= coset_id // pow.
have [||chi [chiM chim chi1]] := abelian_character zP ab expm (a := coset K a).
- exact: mem_quotient.
- by apply: contraNneq aK => /coset_idr; apply; apply: nK.
exists (chi \o coset K); split=> //=.
- by move=> x y xH yH; rewrite morphM ?nK //= chiM ?mem_quotient.
- move=> x y xH yK; rewrite morphM ?nK //=; last exact: (subsetP KH).
  by rewrite (coset_id yK) mulg1.
Qed.

End Characters.

(* A word that returns all layers changes no product. *)
Lemma same_product (F : fieldType) (gT : finGroupType) k d (N : stack F gT k d) u v :
  decodes N -> run N u = run N v -> product u = product v.
Proof.
move=> [readout dec] e; apply: (mulIg 1).
have: product (rcons u 1) = product (rcons v 1) by rewrite -!dec /run !foldl_rcons -!/(run N _) e.
by rewrite -!cats1 !product_cat product1.
Qed.

Section Fewer.
Variables (F : fieldType) (gT : finGroupType) (k d : nat) (N : stack F gT k d).
Hypothesis char0 : [char F]%R =i pred0.
Hypothesis N_layered : layered N.
Variable Q : seq 'M[F]_(k, d).
Hypothesis startQ : start N \in Q.
Hypothesis stay : forall x s, s \in Q -> read N s x \in Q.
Notation T := (seq_sub Q : finType).
Notation act := (act stay).
Let t0 : T := SeqSub startQ.

Lemma run_t0 w : run N w = val (act t0 w).
Proof. by rewrite val_act. Qed.

Lemma below_all (s1 s2 : 'M[F]_(k, d)) : below k s1 s2 -> s1 = s2.
Proof. by move/belowP => H; apply/row_matrixP => i; apply: H. Qed.

(* --- roots of unity: every word is good --- *)

Lemma root_neq0 m (a : F) : (0 < m)%N -> (a ^+ m = 1)%R -> a != 0%R.
Proof.
by move=> m0 am; apply: contra_eq_neq am => ->; rewrite expr0n gtn_eqF // eq_sym oner_neq0.
Qed.

Lemma roots_good m w : (0 < m)%N -> roots m N -> good stay [set: T] w.
Proof.
move=> m0 rN; split=> // t1 t2 _ _; elim: w t1 t2 => [//|x w IH] t1 t2 /= /IH /(congr1 val) /= e.
apply/val_inj/below_all; suff: forall l, (l <= k)%N -> below l (val t1) (val t2) by apply.
elim=> [|l IHl] lk; first exact/belowP.
apply: belowS => [|i il j]; first exact/IHl/ltnW.
have same : below i (val t1) (val t2) by rewrite il; apply/IHl/ltnW.
have /matrixP /(_ i j) := e; rewrite !mxE; have [-> ->] := read_same N_layered x j same.
by move/addIr/(mulfI (root_neq0 m0 (rN _ _ _ _))).
Qed.

Lemma roots_return m l u : (0 < m)%N -> roots m N ->
  good stay [set: T] u -> returns stay [set: T] l u -> returns stay [set: T] l.+1 (repeat m u).
Proof.
move=> m0 rN gu ru t tX; apply: belowS => [|i il j].
  exact: (returns_repeat _ gu ru).
rewrite -il in ru; have [a [ra au]] := deviation_act N_layered m j t gu ru.
have [_ d1] := deviation_repeat m gu ru au (fiber_t i tX).
by apply/esym/(deviation_inj char0 tX (l := i)); rewrite d1 ra // mul1r.
Qed.

(* --- any eigenvalues: words are good on a least image --- *)

Lemma least_nat (P : nat -> Prop) n : P n ->
  classically (exists2 n, P n & forall i, P i -> (n <= i)%N).
Proof.
move=> Pn b least; have [//|/negP nb] := boolP b; case: (nb).
elim/ltn_ind: n Pn => n IH Pn; apply: least; exists n => // i Pi.
by rewrite leqNgt; apply/negP => /IH /(_ Pi).
Qed.

End Fewer.

Section Fewer.
Variables (F : fieldType) (gT : finGroupType) (k d : nat) (N : stack F gT k d).
Hypothesis char0 : [char F]%R =i pred0.
Hypothesis N_layered : layered N.
Variable Q : seq 'M[F]_(k, d).
Hypothesis startQ : start N \in Q.
Hypothesis stay : forall x s, s \in Q -> read N s x \in Q.
Notation T := (seq_sub Q : finType).
Notation act := (act stay).
Let t0 : T := SeqSub startQ.

Lemma least_image : classically (exists e, forall w,
  (#|act^~ e @: [set: T]| <= #|act^~ w @: [set: T]|)%N).
Proof.
pose P n := exists w, #|act^~ w @: [set: T]| = n.
have Pn : P #|act^~ [::] @: [set: T]| by exists [::].
move=> b least; apply: (least_nat Pn) => -[n [e eE] nP]; apply: least.
by exists e => w; rewrite eE; apply: nP; exists w.
Qed.

Lemma least_good e u :
  (forall w, #|act^~ e @: [set: T]| <= #|act^~ w @: [set: T]|)%N ->
  good stay (act^~ e @: [set: T]) (u ++ e).
Proof.
move=> least; set X := act^~ e @: _.
have XX t : act t (u ++ e) \in X by rewrite act_cat imset_f.
split=> [|t _]; last exact: XX.
apply/imset_injP; rewrite eqn_leq leq_imset_card /=.
apply: leq_trans (least (e ++ (u ++ e))) _; apply/subset_leq_card/subsetP => _ /imsetP [t _ ->].
by rewrite act_cat imset_f // imset_f.
Qed.

Lemma factorial_return (X : {set T}) m l u : #|T|`! %| m ->
  good stay X u -> returns stay X l.+1 (repeat m u).
Proof.
move=> mT [ui uX] t tX; rewrite act_repeat.
have oT : fingraph.order (act^~ u) t %| m.
  by apply: dvdn_trans mT; apply: dvdn_fact; rewrite fingraph.order_gt0 max_card.
have -> : iter m (act^~ u) t = t; last exact: below_refl.
have /dvdnP [q ->] := oT; elim: q => // q IH.
by rewrite mulSn addnC iterD (iter_order_in uX ui).
Qed.

(* Tracked groups have a short derived series. *)
Lemma tracked_series m : (0 < m)%N -> #|T|`! %| m -> decodes N -> series m [set: gT] k = 1.
Proof.
move=> m0 mT dec; apply/eqP; apply: least_image => -[e least].
pose P w := exists u, w = u ++ e.
have all_given g : exists2 w, P w & product w = g.
  exists ((g * (product e)^-1) :: e); first by exists [:: g * (product e)^-1].
  by rewrite -cat1s product_cat product1 mulgKV.
have all_good w : P w -> good stay (act^~ e @: [set: T]) w by case=> u ->; apply: least_good.
apply/eqP/trivgP/subsetP => g /(returning_words m0 all_given) [w Rw <-].
have [_ back] := returning_returns char0 N_layered m0
  (fun l u gu _ => factorial_return l mT gu) all_good Rw.
have eX : act t0 e \in act^~ e @: [set: T] by rewrite imset_f.
have /below_all := back _ eX; rewrite -act_cat -!(run_t0 startQ) => /(same_product dec).
by rewrite product_cat => /esym/(canRL (mulKg _)); rewrite mulVg => ->; rewrite set11.
Qed.

Lemma roots_series m : (0 < m)%N -> roots m N -> decodes N -> series m [set: gT] k = 1.
Proof.
move=> m0 rN dec; apply/trivgP/subsetP => g.
have all_given h : exists2 w : seq gT, True & product w = h by exists [:: h]; rewrite ?product1.
case/(returning_words m0 all_given) => w Rw <-.
have good_all v : True -> good stay [set: T] v by move=> _; apply: roots_good m0 rN.
have [_ back] := returning_returns char0 N_layered m0
  (fun l u gu ru => roots_return char0 N_layered m0 rN gu ru) good_all Rw.
have /below_all := back t0 (in_setT _); rewrite -!(run_t0 startQ) => e.
have /(same_product dec) : run N [::] = run N w by [].
by rewrite product_nil => <-; rewrite set11.
Qed.

End Fewer.

(* --- enough layers --- *)

Section Cascade.

Variables (F : fieldType) (gT : finGroupType) (k m : nat) (z : F).
Hypothesis zP : (m.-primitive_root z)%R.
Variable H : nat -> {group gT}.
Hypotheses (H0 : H 0 = [set: gT] :> {set gT}) (Hk : H k = 1 :> {set gT}).
Hypothesis Hn : forall i, (i < k)%N -> H i.+1 <| H i.
Hypothesis Ha : forall i, (i < k)%N -> abelian (H i / H i.+1).
Hypothesis Hm : forall i, (i < k)%N -> {in H i, forall x, x ^+ m \in H i.+1}.

Definition character i (chi : gT -> F) :=
  [/\ {in H i &, forall x y, chi (x * y) = (chi x * chi y)%R},
      {in H i & H i.+1, forall x y, chi (x * y) = chi x} & forall x, (chi x ^+ m = 1)%R].

(* One character for each element. *)
Lemma characters i : (i < k)%N -> exists chi : 'I_#|gT| -> gT -> F,
  (forall j, character i (chi j)) /\
  forall x y, x \in H i -> y \in H i -> (forall j, chi j x = chi j y) -> x * y^-1 \in H i.+1.
Proof.
move=> ik.
have each (j : 'I_#|gT|) : exists chi : gT -> F, character i chi /\
    (enum_val j \in H i :\: H i.+1 -> chi (enum_val j) != 1%R).
  have [|no] := boolP (enum_val j \in H i :\: H i.+1).
    rewrite inE => /andP [aK aH].
    by have [chi [? ? ? ?]] := factor_character zP (Hn ik) (Ha ik) (Hm ik) aH aK; exists chi.
  exists (fun _ => 1%R); split=> //.
  by split=> [x y _ _|//|x]; rewrite ?mulr1 ?expr1n.
have [chi chiP] := fin_all_exists each; exists chi; split=> [j|x y xH yH same].
  by case: (chiP j).
apply/negPn/negP => no; have aH : x * y^-1 \in H i by rewrite groupM ?groupV.
have [[M _ rt] +] := chiP (enum_rank (x * y^-1)); rewrite enum_rankK inE no aH.
move/(_ isT)/negP; case; have := M _ _ aH yH; rewrite mulgKV same => /esym/eqP.
rewrite -subr_eq0 -{2}[chi _ y]mul1r -mulrBl mulf_eq0 subr_eq0 => /orP [//|/eqP y0].
have := rt y; rewrite y0 expr0n gtn_eqF ?(prim_order_gt0 zP) // => /esym/eqP.
by rewrite oner_eq0.
Qed.

(* The part of a product in the i-th group. *)
Definition part i y := y * (repr (H i :* y))^-1.

Lemma part_in i y : part i y \in H i.
Proof. by rewrite /part -mem_rcoset rcoset_sym mem_repr_rcoset. Qed.

Definition change i y x := repr (H i :* y) * x * (repr (H i :* (y * x)))^-1.

Lemma part_change i y x : part i (y * x) = part i y * change i y x.
Proof. by rewrite /part /change !mulgA mulgKV. Qed.

Lemma change_in i y x : change i y x \in H i.
Proof.
have := part_in i (y * x); rewrite part_change => h.
by have := groupM (groupVr (part_in i y)) h; rewrite mulKg.
Qed.

Lemma change_same i y1 y2 x : H i :* y1 = H i :* y2 -> change i y1 x = change i y2 x.
Proof. by move=> e; rewrite /change e !rcosetM e. Qed.

Lemma cascade_tracks : exists d (N : stack F gT k d),
  [/\ layered N, finite_states N, roots m N, decodes N & forall x s, input N x s = 0%R].
Proof.
have [chi chiP] : exists chi : 'I_k -> 'I_#|gT| -> gT -> F, forall i : 'I_k,
    (forall j, character i (chi i j)) /\ forall x y, x \in H i -> y \in H i ->
    (forall j, chi i j x = chi i j y) -> x * y^-1 \in H i.+1.
  exact: (fin_all_exists (fun i : 'I_k => characters (ltn_ord i))).
pose S y : 'M[F]_(k, #|gT|) := (\matrix_(i, j) chi i j (part i y))%R.
pose lam x s : 'M[F]_(k, #|gT|) := (\matrix_(i, j)
  if [pick y | below i s (S y)] is Some y then chi i j (change i y x) else 1)%R.
pose N := Stack (S 1) lam (fun _ _ => 0%R).
have coset_of l y1 y2 : (l <= k)%N -> below l (S y1) (S y2) -> H l :* y1 = H l :* y2.
  elim: l => [|l IH] lk; first by move=> _; rewrite H0 !rcoset_id ?inE.
  move=> b; have e := IH (ltnW lk) (below_le (leqnSn l) b).
  have /belowP /(_ (Ordinal lk) (ltnSn l)) /rowP rows := b.
  apply/rcoset_eqP; rewrite mem_rcoset.
  have [_ sep] := chiP (Ordinal lk).
  have : part l y1 * (part l y2)^-1 \in H l.+1.
    by apply: sep => [||j]; rewrite ?part_in //; have := rows j; rewrite !mxE.
  by rewrite /part e invMg invgK mulgA mulgKV.
have readS y x : read N (S y) x = S (y * x).
  apply/matrixP => i j; rewrite !mxE addr0 part_change.
  have [M _ _] := (chiP i).1 j; rewrite M ?part_in ?change_in // mulrC; congr (_ * _)%R.
  case: pickP => [y' b|/(_ y)]; last by rewrite below_refl.
  by rewrite (change_same _ (coset_of i y y' (ltnW (ltn_ord i)) b)).
have runS w : run N w = S (product w).
  elim/last_ind: w => [|w x IH]; first by rewrite product_nil.
  by rewrite /run foldl_rcons -/(run N w) IH readS -cats1 product_cat product1.
exists #|gT|, N; split=> //.
- move=> x s t l same; split=> //; apply/rowP => j; rewrite !mxE.
  have -> // : [pick y | below l s (S y)] = [pick y | below l t (S y)].
  apply: eq_pick => y /=; apply/idP/idP; last exact: below_trans.
  exact/below_trans/below_sym.
- exists [seq S y | y : gT]; first exact: image_f.
  by move=> x _ /imageP [y _ ->]; rewrite readS image_f.
- move=> x s l j; rewrite mxE; case: pickP => [y _|_]; last by rewrite expr1n.
  by have [_ _ ->] := (chiP l).1 j.
exists (fun s _ => odflt 1 [pick y | s == S y]) => w x; rewrite runS.
case: pickP => [y /eqP e|/(_ (product (rcons w x)))]; last by rewrite eqxx.
have := coset_of k _ _ (leqnn k) (below_refl _ (S y)).
have /(coset_of k _ _ (leqnn k)) : below k (S (product (rcons w x))) (S y).
  by rewrite e below_refl.
by rewrite Hk => /rcoset_eqP; rewrite mem_rcoset inE => /eqP/(canRL (mulgKV _)); rewrite mul1g.
Qed.

End Cascade.

(* --- how many layers are enough --- *)

Section Least.

Variable gT : finGroupType.
Implicit Types (k m : nat) (G : {group gT}).

Lemma smaller_sub m G : smaller m G \subset G.
Proof.
rewrite gen_subG subUset (der_sub 1 G) /=.
by apply/subsetP => _ /imsetP [x xG ->]; apply: groupX.
Qed.

Lemma der_smaller m G : G^`(1) \subset smaller m G.
Proof. exact/subset_trans/subset_gen/subsetUl. Qed.

Lemma series_derived m G i : (forall x : gT, x ^+ m = 1) -> series m G i = G^`(i).
Proof.
move=> power1; elim: i => [|i IH]; first by rewrite derg0.
rewrite seriesS IH dergSn; apply/eqP; rewrite eqEsubset.
apply/andP; split; last exact: (subset_trans (subsetUl _ _) (subset_gen _)).
rewrite gen_subG subUset subxx /=.
by apply/subsetP => _ /imsetP [x _ ->]; rewrite power1 group1.
Qed.

Lemma power_card n (x : gT) : x ^+ (#|gT| * n) = 1.
Proof. by rewrite expgM -cardsT expg_cardG ?inE // expg1n. Qed.

(* With m-th roots of unity as eigenvalues k layers track a group if and only if its k-th
   subgroup is 1, where each is generated by commutators and m-th powers of the one before. *)
Theorem root_layers (F : fieldType) m (z : F) k :
  [char F]%R =i pred0 -> (m.-primitive_root z)%R ->
  tracked_by_roots F gT m k <-> series m [set: gT] k = 1.
Proof.
move=> char0 zP; have m0 := prim_order_gt0 zP; split.
  by move=> [d [N [lN [Q sQ stay] rN dec]]]; apply: (roots_series char0 lN sQ stay m0 rN dec).
move=> sk; pose H i := series_group m [set: gT] i.
have sub i : H i.+1 \subset H i := smaller_sub m (H i).
have der i : (H i)^`(1) \subset H i.+1 := der_smaller m (H i).
have normal i (_ : (i < k)%N) : H i.+1 <| H i := sub_der1_normal (der i) (sub i).
have ab i (_ : (i < k)%N) : abelian (H i / H i.+1) := sub_der1_abelian (der i).
have power i (_ : (i < k)%N) : {in H i, forall x, x ^+ m \in H i.+1}.
  move=> x xH; have : x ^+ m \in [~: H i, H i] :|: [set y ^+ m | y in H i].
    by rewrite inE [X in _ || X]imset_f ?orbT.
  exact: mem_gen.
have H0 : H 0 = [set: gT] :> {set gT} by [].
have [d [N [? ? ? ? _]]] := cascade_tracks zP H0 (sk : H k = 1 :> {set gT}) normal ab power.
by exists d, N.
Qed.

Lemma primitive_root (F : numClosedFieldType) n :
  (0 < n)%N -> exists z : F, (n.-primitive_root z)%R.
Proof.
pose p : {poly F} := ('X^n - 1)%R; have [r Dp] := closed_field_poly_normal p.
move=> n0; rewrite (monicP _) ?monic_Xn_sub_1 // scale1r in Dp.
have rn1 : all n.-unity_root%R r by apply/allP => z; rewrite -root_prod_XsubC -Dp.
have sz : (n < (size r).+1)%N by rewrite -(size_prod_XsubC r id) -Dp size_Xn_sub_1.
have [|z _ zP] := hasP (has_prim_root n0 rn1 _ sz); last by exists z.
by rewrite -separable_prod_XsubC -Dp separable_Xn_sub_1 // pnatr_eq0 -lt0n.
Qed.

(* Over complex numbers: k layers of any eigenvalues, 0 among them, track a group if and only if
   the k-th group of its derived series is 1. *)
Theorem tracking_layers (F : numClosedFieldType) k :
  tracked F gT k <-> [set: gT]^`(k) = 1.
Proof.
have char0 : [char F]%R =i pred0 by apply: char_num.
have gT0 : (0 < #|gT|)%N by apply/card_gt0P; exists 1.
split=> [[d [N [lN [Q sQ stay] dec]]]|sk].
  have := tracked_series char0 lN sQ stay _ (dvdn_mull #|gT| (dvdnn _)) dec.
  by rewrite muln_gt0 gT0 fact_gt0 series_derived; [apply | apply: power_card].
have [z zP] := primitive_root F gT0.
have power1 (x : gT) : x ^+ #|gT| = 1 by rewrite -[#|_|]muln1 power_card.
have [_] := root_layers k char0 zP; rewrite series_derived //; case=> // d [N [? ? _ ?]].
by exists d, N.
Qed.

End Least.

(* --- what the claims compare --- *)

Definition tracking_value (length : N) : N := length.
Lemma tracking_valueE (L : nat) : tracking_value (bin_of_nat L) = bin_of_nat L.
Proof. by []. Qed.

(* Claim: least_depth/diagonal_layers. The numbers of layers that are enough are those from the
   derived length on. *)
Theorem tracking_layers_checked (F : numClosedFieldType) (gT : finGroupType) L :
  [set: gT]^`(L) = 1 -> (forall i, [set: gT]^`(i) = 1 -> (L <= i)%N) ->
  forall k, tracked F gT k <-> (nat_of_bin (tracking_value (bin_of_nat L)) <= k)%N.
Proof.
move=> L1 least k; rewrite tracking_valueE bin_of_natK; split=> [/tracking_layers /least //|Lk].
apply/tracking_layers; elim: k Lk => [|k IH]; first by rewrite leqn0 => /eqP e; rewrite -e.
rewrite leq_eqVlt => /orP [/eqP e|]; first by rewrite -e.
by rewrite ltnS => /IH k1; apply/trivgP; rewrite -k1 der_subS.
Qed.

Lemma sign_primitive (F : numFieldType) : (2.-primitive_root (-1 : F))%R.
Proof.
have n1 : (-1 == 1 :> F)%R = false by rewrite eq_sym -addr_eq0 -mulr2n pnatr_eq0.
apply/andP; split=> //; apply/forallP => -[[|[|//]] i2]; rewrite unity_rootE.
  by rewrite expr1 n1.
by rewrite sqrrN expr1n eqxx.
Qed.

(* Claim: least_depth/sign_layers. With eigenvalues of square 1, over real or complex numbers, the
   numbers of layers that are enough are those from the length of the sign series on. *)
Theorem sign_layers_checked (F : numFieldType) (gT : finGroupType) L :
  series 2 [set: gT] L = 1 -> (forall i, series 2 [set: gT] i = 1 -> (L <= i)%N) ->
  forall k, tracked_by_roots F gT 2 k <-> (nat_of_bin (tracking_value (bin_of_nat L)) <= k)%N.
Proof.
move=> L1 least k; rewrite tracking_valueE bin_of_natK.
have iff i := @root_layers gT F 2 (-1)%R i (char_num _) (sign_primitive F).
split=> [/iff /least //|Lk]; apply/iff; elim: k Lk => [|k IH].
  by rewrite leqn0 => /eqP e; move: L1; rewrite e.
rewrite leq_eqVlt => /orP [/eqP e|]; first by move: L1; rewrite e.
rewrite ltnS => /IH k1; have := smaller_sub 2 (series_group 2 [set: gT] k).
by move=> sub; apply/trivgP; apply: subset_trans (sub) _; rewrite /= k1.
Qed.

Lemma der_series (gT : finGroupType) m (G : {group gT}) i : G^`(i) \subset series m G i.
Proof.
elim: i => [|i IH]; first by rewrite derg0.
rewrite seriesS dergSn; apply: subset_trans (commgSS IH IH) _.
exact: (der_smaller m (series_group m G i)).
Qed.

(* Claim: least_depth/no_depth_is_enough. The words are chosen before the weights. *)
Theorem words_alike (gT : finGroupType) m k : (0 < m)%N -> ~~ solvable [set: gT] ->
  exists u v : seq gT, product u <> product v /\
    forall (F : fieldType) d (N : stack F gT k d), [char F]%R =i pred0 ->
      layered N -> finite_states N -> roots m N -> run N u = run N v.
Proof.
move=> m0 unsolvable; have /trivgPn [g gS g1] : series m [set: gT] k != 1.
  apply: contra unsolvable => /eqP k1; apply/derivedP; exists k; apply/trivgP.
  by rewrite -k1 der_series.
have all_given h : exists2 w : seq gT, True & product w = h by exists [:: h]; rewrite ?product1.
have [w Rw wg] := returning_words m0 all_given gS.
exists w, [::]; split=> [|F d N char0 lN [Q sQ stay] rN].
  by rewrite wg product_nil; apply/eqP.
have good_all v : True -> good stay [set: _] v by move=> _; apply: roots_good m0 rN.
have [_ back] := returning_returns char0 lN m0
  (fun l u gu ru => roots_return char0 lN m0 rN gu ru) good_all Rw.
have /below_all := back (SeqSub sQ) (in_setT _).
by rewrite val_act => /= e; rewrite /run -e.
Qed.

(* The same with any eigenvalues, for each stack by itself. *)
Theorem no_depth_is_enough (F : numClosedFieldType) (gT : finGroupType) k :
  ~~ solvable [set: gT] -> ~ tracked F gT k.
Proof. by move=> /negP s /tracking_layers k1; apply/s/derivedP; exists k. Qed.

(* The alternating group of five letters, and the symmetric group. *)
Lemma alternating5_unsolvable : ~~ solvable 'Alt_('I_5).
Proof.
apply/negP => s; have simple5 : simple 'Alt_('I_5) by apply: simple_Alt5; rewrite card_ord.
have := simple_sol_prime s simple5; have := @card_Alt ('I_5 : finType).
rewrite card_ord => /(_ isT) /= e; have -> : #|'Alt_('I_5)| = 60.
  by apply/eqP; rewrite -(eqn_pmul2l (m := 2)) // e.
by [].
Qed.

Example alternating5 : ~~ solvable [set: subg_of 'Alt_('I_5)].
Proof. by rewrite -(isog_sol (isog_subg _)) alternating5_unsolvable. Qed.

Example symmetric5 : ~~ solvable [set: {perm 'I_5}].
Proof. by apply: contra alternating5_unsolvable; apply: solvableS; apply: Alt_subset. Qed.

(* For A_5 the words are there for every number of layers, and no number is enough. *)
Example alternating5_words m k : (0 < m)%N ->
  exists u v : seq (subg_of 'Alt_('I_5)), product u <> product v /\
    forall (F : fieldType) d (N : stack F (subg_of 'Alt_('I_5) : finGroupType) k d),
      [char F]%R =i pred0 -> layered N -> finite_states N -> roots m N -> run N u = run N v.
Proof. by move=> m0; apply: words_alike m0 alternating5. Qed.

Example alternating5_untracked (F : numClosedFieldType) k :
  ~ tracked F (subg_of 'Alt_('I_5) : finGroupType) k.
Proof. exact: no_depth_is_enough alternating5. Qed.

(* S_3 takes two layers. *)
Lemma symmetric3_derived : [set: {perm 'I_3}]^`(2) = 1 /\ [set: {perm 'I_3}]^`(1) != 1.
Proof.
have A3 : #|'Alt_('I_3)| = 3.
  apply/eqP; rewrite -(eqn_pmul2l (m := 2)) //.
  by have := @card_Alt ('I_3 : finType); rewrite card_ord => /(_ isT) ->.
have aA : abelian 'Alt_('I_3) by apply/cyclic_abelian/prime_cyclic; rewrite A3.
have in_alt : [set: {perm 'I_3}]^`(1) \subset 'Alt_('I_3).
  apply: (der1_min (Alt_norm _)); apply/cyclic_abelian/prime_cyclic.
  by rewrite card_quotient ?Alt_norm // Alt_index // card_ord.
split.
  rewrite (dergSn 1 [set: {perm 'I_3}]); apply/trivgP.
  apply: subset_trans (commgSS in_alt in_alt) _.
  by have /derG1P := aA; rewrite derg1 => ->.
apply/negP => /eqP/derG1P/centsP/(_ (tperm ord0 (lift ord0 ord0)) (in_setT _)).
move/(_ (tperm ord0 ord_max) (in_setT _))/permP/(_ ord0)/(congr1 val).
by rewrite !permM !(tpermL, tpermR) !tpermD //.
Qed.

Example symmetric3_layers (F : numClosedFieldType) :
  tracked F ({perm 'I_3} : finGroupType) 2 /\ ~ tracked F ({perm 'I_3} : finGroupType) 1.
Proof.
have [s2 s1] := symmetric3_derived; split; first exact/tracking_layers.
by move/tracking_layers/eqP; apply/negP.
Qed.

(* The same on binary numbers: the depths that are enough for S_3 are those from two on. *)
Example symmetric3_depths (F : numClosedFieldType) k :
  tracked F ({perm 'I_3} : finGroupType) k <->
  (nat_of_bin (tracking_value (bin_of_nat 2)) <= k)%N.
Proof.
have [s2 s1] := symmetric3_derived; apply: tracking_layers_checked => // i i1.
case: i i1 => [|[|//]] i1; case/eqP: s1 => //; apply/trivgP; rewrite -i1; exact: der_subS.
Qed.

(* For a cyclic group each subgroup of the series is that of the m-th powers. *)
Lemma cyclic_series (gT : finGroupType) m (c : gT) i : series m <[c]> i = <[c ^+ (m ^ i)]>.
Proof.
elim: i => [|i IH]; first by rewrite expg1.
rewrite seriesS IH expnSr expgM; move: (c ^+ _) => {IH}c; apply/eqP; rewrite eqEsubset.
rewrite gen_subG cycle_subG subUset; have /commG1P -> := cycle_abelian c; rewrite sub1G /=.
apply/andP; split; last by rewrite mem_gen // inE [X in _ || X]imset_f ?orbT ?cycle_id.
by apply/subsetP => _ /imsetP [_ /cycleP [j ->] ->]; rewrite expgAC mem_cycle.
Qed.

(* Signs track the cyclic group of order 4 with two layers and not with one. *)
Example cyclic4_signs (F : numFieldType) k :
  tracked_by_roots F ('I_4 : finGroupType) 2 k <->
  (nat_of_bin (tracking_value (bin_of_nat 2)) <= k)%N.
Proof.
have all4 : [set: 'I_4] = <[Zp1]> by rewrite -Zp_cycle.
apply: sign_layers_checked => [|i]; rewrite all4 cyclic_series.
  by apply/eqP; rewrite cycle_eq1 -order_dvdn order_Zp1.
by move/eqP; rewrite cycle_eq1 -order_dvdn order_Zp1; case: i => [|[|i]].
Qed.
