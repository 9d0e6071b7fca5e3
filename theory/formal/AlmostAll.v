(* Almost all weights: what it means that a polynomial in the weights, which is not zero, does not
   vanish.

   For G, a polynomial in n variables that is not zero, call a point bad where G vanishes, and good
   elsewhere. Over every integral domain, each line through a good point has at most deg G bad ones,
   and of the points of a grid with M values a coordinate a share of at most deg G / M is bad
   (Schwartz and Zippel). Over every ordered field, good points are dense. Over every archimedean
   field, such as the reals, the bad points are a null set: for every eps > 0 countably many boxes
   of total volume at most eps cover them.

   So a theorem of the form "there is a polynomial G in the weights, not zero, and where G does not
   vanish the weights have the property P" says that almost all weights have P: almost_all_weights.

   The null sets: as a polynomial in the last coordinate, G has a leading coefficient in one
   variable less, which is not small at most points of a grid, by induction. There G is small at few
   values of the last coordinate: at those that are far from one of them, x0, the quotient by x - x0
   is small too, and its degree is smaller (few_small). As G is Lipschitz on a cube, a cell of the
   grid holds a zero only if G is small at its corner. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring lra.
From mathcomp Require Import mpoly.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* --- the last variable ------------------------------------------------------------------------ *)

Local Notation widen := (widen_ord (leqnSn _)).

(* A point with one coordinate more. *)
Definition with_last (T : Type) n (c : 'I_n -> T) (t : T) (i : 'I_n.+1) : T :=
  if unlift ord_max i is Some j then c j else t.

Lemma widen_lift n (j : 'I_n) : widen j = lift ord_max j.
Proof. by apply/val_inj; rewrite /= /bump leqNgt ltn_ord. Qed.

Lemma with_last_max T n (c : 'I_n -> T) t : with_last c t ord_max = t.
Proof. by rewrite /with_last unlift_none. Qed.

Lemma with_last_widen T n (c : 'I_n -> T) t j : with_last c t (widen j) = c j.
Proof. by rewrite /with_last widen_lift liftK. Qed.

Section LastVariable.
Variables (R : comRingType) (n : nat).
Implicit Types (G : {mpoly R[n.+1]}) (m : 'X_{1..n.+1}).

Definition without_last m : 'X_{1..n} := [multinom m (widen i) | i < n].

Lemma eq_without_last m1 m2 :
  (m1 == m2) = (without_last m1 == without_last m2) && (m1 ord_max == m2 ord_max).
Proof.
apply/eqP/andP => [->|[/eqP/mnmP e /eqP el]]; first by rewrite !eqxx.
apply/mnmP => i; case: (unliftP ord_max i) => [j|] -> //.
by have := e j; rewrite !mnmE widen_lift.
Qed.

Lemma muni_coef G m : ((muni G)`_(m ord_max))@_(without_last m) = G@_m.
Proof.
rewrite muniE coef_sum raddf_sum /= [in RHS](mpolyE G) raddf_sum /=.
apply: eq_bigr => k _; rewrite coefZ coefXn mulr_natr mcoeffMn !mcoeffZ !mcoeffX eq_without_last.
rewrite -/(without_last k) [m ord_max == _]eq_sym.
by case: (without_last k == _); case: (k ord_max == _); rewrite ?mulr0 ?mul0rn ?mulr1.
Qed.

Lemma muni_coef_ex G k (m' : 'X_{1..n}) : exists m, [/\ without_last m = m', m ord_max = k &
  ((muni G)`_k)@_m' = G@_m].
Proof.
pose m : 'X_{1..n.+1} := [multinom with_last m' k i | i < n.+1].
have e1 : without_last m = m' by apply/mnmP => i; rewrite !mnmE with_last_widen.
have e2 : m ord_max = k by rewrite mnmE with_last_max.
by exists m; split=> //; rewrite -{1}e1 -{1}e2 muni_coef.
Qed.

Lemma muni_neq0 G : G != 0 -> muni G != 0.
Proof.
move=> G0; have := mlead_supp G0; rewrite mcoeff_msupp -muni_coef; apply: contra => /eqP ->.
by rewrite coef0 mcoeff0.
Qed.

Lemma mdeg_without_last m : mdeg m = (mdeg (without_last m) + m ord_max)%N.
Proof. by rewrite !mdegE big_ord_recr /=; congr addn; apply: eq_bigr => i _; rewrite mnmE. Qed.

Lemma msize_muni G k : (muni G)`_k != 0 -> (msize ((muni G)`_k) + k <= msize G)%N.
Proof.
move=> c0; rewrite -(mlead_deg c0).
have [m [e1 e2 e3]] := muni_coef_ex G k (mlead (muni G)`_k).
have := mlead_supp c0; rewrite mcoeff_msupp e3 -mcoeff_msupp => /msize_mdeg_lt.
by rewrite mdeg_without_last e1 e2 addSn.
Qed.

(* The polynomial in the last variable, at values of the others. *)
Definition in_last G (c : 'I_n -> R) : {poly R} := map_poly (meval c) (muni G).

Lemma in_last_value G c t : (in_last G c).[t] = G.@[with_last c t].
Proof.
rewrite /in_last muniE rmorph_sum /= horner_sum mevalE; apply: eq_bigr => m _.
rewrite map_polyZ map_polyXn hornerZ hornerXn /= mevalZ mevalX -mulrA big_ord_recr /= with_last_max.
by congr (_ * (_ * _)); apply: eq_bigr => j _; rewrite mnmE with_last_widen.
Qed.

Lemma in_last_coef G c k : (in_last G c)`_k = ((muni G)`_k).@[c].
Proof. by rewrite coef_map. Qed.

Lemma size_in_last G c : (size (in_last G c) <= size (muni G))%N.
Proof. exact: size_poly. Qed.

End LastVariable.

(* --- counting --------------------------------------------------------------------------------- *)

Section Counting.
Variables (A : finType) (n : nat).
Implicit Types (B : pred {ffun 'I_n.+1 -> A}) (L : pred {ffun 'I_n -> A}).

Definition extended (c : {ffun 'I_n -> A}) a : {ffun 'I_n.+1 -> A} := [ffun i => with_last c a i].

Lemma count_extended B :
  #|[pred c | B c]| = (\sum_(c : {ffun 'I_n -> A}) #|[pred a | B (extended c a)]|)%N.
Proof.
rewrite -sum1_card big_mkcond (reindex (fun p => extended p.1 p.2)) /=; last first.
  exists (fun c => ([ffun j => c (widen j)], c ord_max)) => [[c a] _|c _] /=.
    rewrite ffunE with_last_max; congr pair; apply/ffunP => j.
    by rewrite !ffunE with_last_widen.
  apply/ffunP => i; rewrite ffunE; case: (unliftP ord_max i) => [j|] ->.
    by rewrite -widen_lift with_last_widen ffunE.
  by rewrite with_last_max.
rewrite -(pair_bigA _ (fun c a => if B (extended c a) then 1 else 0)%N) /=.
by apply: eq_bigr => c _; rewrite -big_mkcond sum1_card.
Qed.

Lemma count_split B L u :
  (forall c, ~~ L c -> (#|[pred a | B (extended c a)]| <= u)%N) ->
  (#|[pred c | B c]| <= #|[pred c | L c]| * #|A| + #|A| ^ n * u)%N.
Proof.
move=> few; rewrite count_extended (bigID (fun c => L c)) /=; apply: leq_add.
  rewrite -sum_nat_const; apply: leq_sum => c _; exact: max_card.
apply: (@leq_trans (\sum_(c | ~~ L c) u)%N); first exact: leq_sum.
rewrite sum_nat_const leq_mul2r; apply/orP; right.
by apply: leq_trans (max_card _) _; rewrite card_ffun card_ord.
Qed.

End Counting.

Lemma mpoly_no_variables (R : ringType) (G : {mpoly R[0]}) v : G.@[v] = 0 -> G = 0.
Proof.
have m0 (m : 'X_{1..0}) : m = 0%MM by apply/mnmP; case.
rewrite mevalE => e; apply/mpolyP => m; rewrite mcoeff0 (m0 m); move: e.
case: (boolP (0%MM \in msupp G)) => [i0|]; last by move/memN_msupp_eq0.
rewrite (big_rem 0%MM) //= big_ord0 mulr1 big_seq big_pred0 ?addr0 // => m'.
by rewrite (m0 m') mem_rem_uniqF // msupp_uniq.
Qed.

(* Of the points of a grid, whose coordinate i takes the values x i, one for each element of A, a
   share of at most deg G / |A| are zeros of G (Schwartz and Zippel). *)
Theorem zeros_on_grid (F : idomainType) n (G : {mpoly F[n]}) (A : finType) (x : 'I_n -> A -> F) :
  G != 0 -> (forall i, injective (x i)) ->
  (#|[pred c : {ffun 'I_n -> A} | (G.@[fun i => x i (c i)] == 0)%R]| * #|A|
     <= (msize G).-1 * #|A| ^ n)%N.
Proof.
move=> + xi; elim: n G x xi => [|n IH] G x xi G0.
  rewrite eq_card0 ?mul0n // => c; rewrite !inE; apply/negbTE.
  by apply: contra G0 => /eqP/mpoly_no_variables ->.
have g0 := muni_neq0 G0; set d := (size (muni G)).-1.
have sg : (size (muni G) = d.+1)%N by rewrite prednK ?size_poly_gt0.
have l0 : (muni G)`_d != 0 by rewrite -lead_coefE lead_coef_eq0.
have ms := msize_muni l0.
pose y i := x (widen i).
have IHl := IH _ y (fun i => xi _) l0.
pose B (c : {ffun 'I_n.+1 -> A}) := G.@[fun i => x i (c i)] == 0.
pose L (c : {ffun 'I_n -> A}) := ((muni G)`_d).@[fun i => y i (c i)] == 0.
have few c : ~~ L c -> (#|[pred a | B (extended c a)]| <= d)%N.
  move=> lc; pose q := in_last G (fun i => y i (c i)).
  have q0 : q != 0.
    by apply: contra lc => /eqP q0; rewrite /L -in_last_coef -/q q0 coef0.
  rewrite -ltnS -sg; apply: leq_trans (size_in_last G (fun i => y i (c i))).
  rewrite cardE -(size_map (x ord_max)); apply: max_poly_roots => //; last first.
    by rewrite (map_inj_uniq (xi _)) enum_uniq.
  apply/allP => t /mapP[a]; rewrite mem_enum inE => Ba ->.
  rewrite /root in_last_value; move: Ba; rewrite /B; congr (_ == 0); apply: meval_eq => i.
  rewrite ffunE; case: (unliftP ord_max i) => [j|] ->; last by rewrite !with_last_max.
  by rewrite -widen_lift !with_last_widen.
have := count_split few; rewrite -/B => H.
apply: leq_trans (leq_mul H (leqnn #|A|)) _; rewrite mulnDl.
have {}IHl : (#|[pred c | L c]| * #|A| <= (msize (muni G)`_d).-1 * #|A| ^ n)%N := IHl.
apply: leq_trans (leq_add (leq_mul IHl (leqnn _)) (leqnn _)) _.
rewrite -mulnA -expnSr -mulnA [(d * _)%N]mulnC mulnA -expnSr [(_ * d)%N]mulnC -mulnDl.
rewrite leq_mul2r; apply/orP; right.
have := ms; have : (0 < msize (muni G)`_d)%N by rewrite lt0n msize_poly_eq0.
by case: (mmeasure _ (_)`_d) => // k _; case: (mmeasure _ G).
Qed.

(* The weights over a finite field, such as F_p: a share of at most deg G / p of them is bad. *)
Corollary zeros_finite_field (F : finFieldType) n (G : {mpoly F[n]}) : G != 0 ->
  (#|[pred w : {ffun 'I_n -> F} | (G.@[w] == 0)%R]| * #|F| <= (msize G).-1 * #|F| ^ n)%N.
Proof. by move=> G0; apply: (zeros_on_grid (x := fun _ t => t)) => // _ s t. Qed.

(* The weights 0, 1/M, ..., (M - 1)/M: a share of at most deg G / M of the choices is bad, which
   goes to 0 as M grows. *)
Corollary zeros_share (F : numFieldType) n (G : {mpoly F[n]}) M : G != 0 ->
  (#|[pred c : {ffun 'I_n -> 'I_M} | (G.@[fun i => (c i)%:R / M%:R] == 0)%R]| * M
     <= (msize G).-1 * M ^ n)%N.
Proof.
move=> G0; have := @zeros_on_grid F n G 'I_M (fun _ j => j%:R / M%:R) G0.
rewrite card_ord; apply=> _ j l; have M0 := leq_ltn_trans (leq0n _) (ltn_ord j).
have iM : (M%:R : F)^-1 != 0 by rewrite invr_eq0 pnatr_eq0 -lt0n.
by move/(mulIf iM)/eqP; rewrite eqr_nat => /eqP/val_inj.
Qed.

(* --- lines, and density ----------------------------------------------------------------------- *)

(* More values than the degree leave a good point. *)
Lemma good_on_grid (F : idomainType) n (G : {mpoly F[n]}) (x : 'I_n -> nat -> F) :
  G != 0 -> (forall i, injective (x i)) -> exists c : 'I_n -> nat, G.@[fun i => x i (c i)] != 0.
Proof.
move=> G0 xi; pose M := msize G.
have M0 : (0 < M)%N by rewrite lt0n msize_poly_eq0.
have := @zeros_on_grid _ _ _ 'I_M (fun i k => x i k) G0 (fun i => inj_comp (xi i) val_inj).
rewrite card_ord; case: (pickP [pred c : {ffun 'I_n -> 'I_M} | G.@[fun i => x i (c i)] != 0]).
  by move=> c good _; exists (fun i => nat_of_ord (c i)).
move=> all_bad; rewrite (eq_card (B := {ffun 'I_n -> 'I_M})) => [|c]; last first.
  by rewrite !inE; have := all_bad c; rewrite /= => /negbFE ->.
rewrite card_ffun !card_ord.
by rewrite mulnC leq_mul2r expn_eq0 eqn0Ngt M0 /= -ltnS prednK // ltnn.
Qed.

(* A polynomial that is not zero has a point where it does not vanish. *)
Theorem good_exists (F : numDomainType) n (G : {mpoly F[n]}) : G != 0 ->
  exists w, G.@[w] != 0.
Proof.
move=> G0; have [|c] := @good_on_grid _ _ _ (fun _ k => k%:R) G0; last by eexists; eassumption.
by move=> _ k l /eqP; rewrite eqr_nat => /eqP.
Qed.

(* G on the line through w in direction v. *)
Definition on_line (R : comRingType) n (G : {mpoly R[n]}) (w v : 'I_n -> R) : {poly R} :=
  mmap polyC (fun i => (w i)%:P + v i *: 'X) G.

Lemma on_line_value (R : comRingType) n (G : {mpoly R[n]}) w v t :
  (on_line G w v).[t] = G.@[fun i => w i + t * v i].
Proof.
rewrite /on_line /mmap horner_sum mevalE; apply: eq_bigr => m _.
rewrite hornerM hornerC horner_prod; congr (_ * _); apply: eq_bigr => i _.
by rewrite horner_exp hornerD hornerC hornerZ hornerX [t * _]mulrC.
Qed.

Lemma size_on_line (F : idomainType) n (G : {mpoly F[n]}) w v :
  (size (on_line G w v) <= msize G)%N.
Proof.
rewrite /on_line /mmap big_seq; elim/big_ind: _ => [|p q hp hq|m].
- by rewrite size_poly0.
- by apply: leq_trans (size_add _ _) _; rewrite geq_max hp.
move/msize_mdeg_lt; apply: leq_trans.
rewrite mul_polyC; apply: leq_trans (size_scale_leq _ _) _.
rewrite /mmap1 mdegE; elim/big_ind2: _ => [|p k q l hp hq|i _]; first by rewrite size_poly1.
  by apply: leq_trans (size_mul_leq _ _) _; lia.
apply: leq_trans (size_exp_leq _ _) _; rewrite ltnS -[leqRHS]mul1n leq_mul2r; apply/orP; right.
rewrite -subn1 leq_subLR; apply: leq_trans (size_add _ _) _; rewrite geq_max.
apply/andP; split; first by apply: leq_trans (size_polyC_leq1 _) _.
by apply: leq_trans (size_scale_leq _ _) _; rewrite size_polyX.
Qed.

(* On each line through a good point, at most deg G points are bad: no more in any list of them. *)
Theorem zeros_on_line (F : idomainType) n (G : {mpoly F[n]}) (w v : 'I_n -> F) (bad : seq F) :
  G.@[w] != 0 -> uniq bad -> (forall t, t \in bad -> G.@[fun i => w i + t * v i] = 0) ->
  (size bad <= (msize G).-1)%N.
Proof.
move=> good ub zero; have M0 : (0 < msize G)%N.
  by rewrite lt0n msize_poly_eq0; apply: contraNneq good => ->; rewrite meval0.
rewrite -ltnS prednK //; apply: leq_trans (size_on_line G w v); apply: max_poly_roots => //.
  apply: contraNneq good => z; have := on_line_value G w v 0; rewrite z horner0 => ->.
  by apply/eqP/meval_eq => i; rewrite mul0r addr0.
by apply/allP => t /zero; rewrite /root on_line_value => ->.
Qed.

(* Good points are dense: as near to any point as one likes, in every coordinate, is a good one. *)
Theorem good_dense (F : numFieldType) n (G : {mpoly F[n]}) (w : 'I_n -> F) (eps : F) :
  G != 0 -> 0 < eps -> exists2 w', G.@[w'] != 0 & forall i, `|w' i - w i| <= eps.
Proof.
move=> G0 e0; have [|c good] := @good_on_grid _ _ _ (fun i k => w i + eps / k.+1%:R) G0.
  move=> i k l /addrI/(mulfI (lt0r_neq0 e0))/invr_inj/eqP.
  by rewrite eqr_nat eqSS => /eqP.
exists (fun i => w i + eps / (c i).+1%:R) => // i.
rewrite addrC addrA addNr add0r ger0_norm; last by rewrite divr_ge0 ?ler0n // ltW.
rewrite ler_pdivrMr ?ltr0Sn //; apply: ler_peMr; first exact: ltW.
by rewrite ler1n.
Qed.

(* --- small values on a grid ------------------------------------------------------------------- *)

Section Small.
Variables (R : realFieldType) (s : R).
Hypothesis s_gt0 : 0 < s.

(* Point j of M on the way from u to u + s. *)
Definition tick (u : R) M (j : nat) : R := u + s * j%:R / M%:R.

Lemma near_count M m (j0 : nat) :
  (#|[pred j : 'I_M | (j <= j0 + m) && (j0 <= j + m)]| <= m.*2.+1)%N.
Proof.
rewrite cardE -(size_map val) -(size_iota (j0 - m) m.*2.+1); apply: uniq_leq_size.
  by rewrite (map_inj_uniq val_inj) enum_uniq.
move=> k /mapP[j]; rewrite mem_enum inE => /andP[h1 h2] ->; rewrite mem_iota /= -addnn.
by move: (nat_of_ord j) h1 h2 => l; lia.
Qed.

Lemma far_ticks u M m (j j0 : 'I_M) e : (M < m.+1 * e)%N -> ~~ ((j <= j0 + m) && (j0 <= j + m))%N ->
  s / e%:R <= `|tick u M j - tick u M j0|.
Proof.
move=> Me far; have M0 : (0 < M)%N := leq_ltn_trans (leq0n _) (ltn_ord j).
have e0 : (0 < e)%N by move: Me; case: e => //; rewrite muln0.
have -> : tick u M j - tick u M j0 = s / M%:R * (j%:R - j0%:R) by rewrite /tick; ring.
rewrite normrM (ger0_norm (divr_ge0 (ltW s_gt0) (ler0n _ _))) -mulrA ler_pM2l //.
rewrite ler_pdivlMl ?ltr0n // ler_pdivrMr ?ltr0n //.
have : (M%:R : R) <= m.+1%:R * e%:R by rewrite -natrM ler_nat ltnW.
move/le_trans; apply; rewrite ler_pM2r ?ltr0n //.
have [jj|jj] := leqP j0 j.
  by rewrite -natrB // normr_nat ler_nat; lia.
by rewrite distrC -natrB 1?ltnW // normr_nat ler_nat; lia.
Qed.

(* A polynomial of degree d whose leading coefficient is not small is small at few points. *)
Lemma few_small_one d e (low : R) : (0 < e)%N -> 0 < low -> exists2 delta : R, 0 < delta &
  exists K, forall M, (K <= M)%N -> forall u (p : {poly R}), (size p <= d.+1)%N -> low < `|p`_d| ->
    (#|[pred j : 'I_M | (`|p.[tick u M j]| <= delta)%R]| * e <= M)%N.
Proof.
move=> e0 low0; elim: d e e0 => [|d IH] e e0.
  exists low => //; exists 0%N => M _ u p sp lp.
  rewrite eq_card0 ?mul0n // => j; rewrite !inE (size1_polyC sp) hornerC.
  by apply/negbTE; rewrite -ltNge.
have [|delta d0 [K HK]] := IH e.*2; first by rewrite double_gt0.
pose E := (e * 8)%N; have E0 : (0 < E)%N by rewrite muln_gt0 e0.
pose eta : R := s / E%:R; have eta0 : 0 < eta by rewrite divr_gt0 // ltr0n.
exists (eta * delta / 2%:R); first by apply: divr_gt0; [apply: mulr_gt0|rewrite ltr0n].
exists (maxn K (e * 4)) => M; rewrite geq_max => /andP[KM eM] u p sp lp.
set small := [pred j : 'I_M | _].
case: (pickP small) => [j0 sj0|none]; last by rewrite (eq_card0 none).
pose t := tick u M j0.
have [q qE] : exists q : {poly R}, p - (p.[t])%:P = q * ('X - t%:P).
  by apply/factor_theorem; rewrite /root hornerD hornerN hornerC subrr.
have sq : (size q <= d.+1)%N.
  have [->|q0] := eqVneq q 0; first by rewrite size_poly0.
  have : (size (q * ('X - t%:P))%R <= d.+2)%N.
    rewrite -qE; apply: leq_trans (size_add _ _) _; rewrite size_opp geq_max sp.
    by apply: leq_trans (size_polyC_leq1 _) _.
  by rewrite size_Mmonic ?monicXsubC // size_XsubC addn2.
have lq : q`_d = p`_d.+1.
  have /(congr1 (fun r : {poly R} => r`_d.+1)) := qE.
  rewrite coefB coefC subr0 => ->; rewrite mulrBr coefB coefMX coefMC /=.
  by rewrite (nth_default _ sq) mul0r subr0.
have := HK M KM u q sq; rewrite lq => /(_ lp) few.
pose m := (M %/ E)%N.
pose near := [pred j : 'I_M | (j <= j0 + m) && (j0 <= j + m)]%N.
have sub : {subset small <= [predU near & [pred j : 'I_M | `|q.[tick u M j]| <= delta]]}.
  move=> j; rewrite !inE => sj; case: (boolP (_ && _)) => //= far.
  have Mm : (M < m.+1 * E)%N by rewrite ltn_ceil.
  have := far_ticks u Mm far; rewrite -/t -/eta => fd.
  have qv : q.[tick u M j] * (tick u M j - t) = p.[tick u M j] - p.[t].
    by have /(congr1 (horner^~ (tick u M j))) := qE; rewrite hornerM !hornerE => ->.
  have : `|q.[tick u M j]| * eta <= delta * eta.
    apply: (@le_trans _ _ (`|q.[tick u M j]| * `|tick u M j - t|)); first exact: ler_wpM2l.
    rewrite -normrM qv; apply: le_trans (ler_normB _ _) _.
    have := sj; have := sj0; rewrite inE -/t; lra.
  by rewrite ler_pM2r.
have := leq_trans (subset_leq_card (introT subsetP sub))
  (leq_trans (leq_addr _ _) (eq_leq (cardUI _ _))).
have := near_count M m j0; rewrite -/near => nc H.
have {}H : (#|small| <= m.*2.+1 + #|[pred j : 'I_M | (`|q.[tick u M j]| <= delta)%R]|)%N.
  by apply: leq_trans H _; rewrite leq_add2r.
have mE : (m * (e * 8) <= M)%N by apply: leq_trunc_div.
apply: leq_trans (leq_mul H (leqnn e)) _; move: few mE eM; rewrite -!muln2 mulnDl mulSn.
by move: #|_| => f; rewrite !mulnA; nia.
Qed.

(* So a polynomial that is not zero is small at few points of a grid. *)
Lemma few_small n (G : {mpoly R[n]}) (u : 'I_n -> R) e : (0 < e)%N -> G != 0 ->
  exists2 delta : R, 0 < delta & exists K, forall M, (K <= M)%N ->
    (#|[pred c : {ffun 'I_n -> 'I_M} | (`|G.@[fun i => tick (u i) M (c i)]| <= delta)%R]| * e
       <= M ^ n)%N.
Proof.
elim: n G u e => [|n IH] G u e e0 G0.
  pose v : 'I_0 -> R := fun=> 0.
  have Gv : G.@[v] != 0 by apply: contra G0 => /eqP/mpoly_no_variables ->.
  exists (`|G.@[v]| / 2%:R); first by rewrite divr_gt0 ?normr_gt0 // ltr0n.
  exists 0%N => M _; rewrite eq_card0 // => c; rewrite !inE; apply/negbTE; rewrite -ltNge.
  rewrite (@meval_eq _ _ _ v) => [|[]//]; have := Gv; rewrite -normr_gt0; lra.
have g0 := muni_neq0 G0; set d := (size (muni G)).-1.
have sg : (size (muni G) = d.+1)%N by rewrite prednK ?size_poly_gt0.
have l0 : (muni G)`_d != 0 by rewrite -lead_coefE lead_coef_eq0.
have e2 : (0 < e.*2)%N by rewrite double_gt0.
have [low low0 [K HK]] := IH _ (fun i => u (widen i)) _ e2 l0.
have [delta d0 [K' HK']] := few_small_one d e2 low0.
exists delta => //; exists (maxn K K') => M; rewrite geq_max => /andP[/HK few1 /HK' few2].
pose B (c : {ffun 'I_n.+1 -> 'I_M}) := `|G.@[fun i => tick (u i) M (c i)]| <= delta.
pose L (c : {ffun 'I_n -> 'I_M}) :=
  `|((muni G)`_d).@[fun i => tick (u (widen i)) M (c i)]| <= low.
have few c : ~~ L c -> (#|[pred a | B (extended c a)]| <= M %/ e.*2)%N.
  rewrite /L -ltNge -in_last_coef => lc; rewrite leq_divRL //.
  have := few2 (u ord_max) _ _ lc; rewrite -sg => /(_ (size_in_last _ _)).
  congr (_ * _ <= _)%N; apply: eq_card => a; rewrite !inE /B in_last_value.
  congr (`|_| <= _); apply: meval_eq => i; rewrite ffunE.
  by case: (unliftP ord_max i) => [j|] ->; rewrite ?with_last_max // -widen_lift !with_last_widen.
have := count_split few; rewrite card_ord -/B => H.
have {}few1 : (#|[pred c | L c]| * e.*2 <= M ^ n)%N := few1.
have H1 := leq_mul few1 (leqnn M); have H2 : (M ^ n * (M %/ e.*2 * e.*2) <= M ^ n * M)%N.
  by rewrite leq_mul2l leq_trunc_div orbT.
rewrite -(@leq_pmul2r 2) //; apply: (@leq_trans (#|[pred c | B c]| * e.*2)%N).
  by rewrite -mulnA muln2.
apply: leq_trans (leq_mul H (leqnn _)) _; rewrite muln2 -addnn expnSr.
move: H1 H2; rewrite mulnDl; move: #|_| (M %/ _)%N (M ^ n)%N => f1 f2 f3; nia.
Qed.

End Small.

(* --- cells ------------------------------------------------------------------------------------ *)

(* On a cube a polynomial changes by no more than a constant times the change of the point. *)
Section Lipschitz.
Variables (R : realFieldType) (n : nat).
Implicit Types G : {mpoly R[n]}.

Definition bounded_by (B : R) (x : 'I_n -> R) := forall i, `|x i| <= B.

Definition tame G := exists (D : R) k, 0 <= D /\ forall B : R, 1 <= B ->
  (forall x, bounded_by B x -> `|G.@[x]| <= D * B ^+ k) /\
  (forall x y (h : R), bounded_by B x -> bounded_by B y -> 0 <= h ->
     (forall i, `|x i - y i| <= h) ->
     `|G.@[x] - G.@[y]| <= D * B ^+ k * h).

Lemma tameC c : tame c%:MP.
Proof.
exists `|c|, 0%N; split=> // B B1; split=> [x _|x y h _ _ h0 _]; rewrite !mevalC.
  by rewrite expr0 mulr1.
by rewrite subrr normr0 !mulr_ge0 // exprn_ge0 // (le_trans ler01).
Qed.

Lemma tameX i : tame 'X_i.
Proof.
exists 1, 1%N; split=> // B B1; split=> [x bx|x y h _ _ h0 xy]; rewrite !mevalXU.
  by rewrite mul1r.
by rewrite mul1r; apply: le_trans (xy i) _; apply: ler_peMl.
Qed.

Lemma tameD G H : tame G -> tame H -> tame (G + H).
Proof.
move=> [D [k [D0 tG]]] [E [l [E0 tH]]]; exists (D + E), (k + l)%N; split; first exact: addr_ge0.
move=> B B1; have [G1 G2] := tG B B1; have [H1 H2] := tH B B1.
have kl : B ^+ k <= B ^+ (k + l) by apply: ler_weXn2l; rewrite ?leq_addr.
have lk : B ^+ l <= B ^+ (k + l) by apply: ler_weXn2l; rewrite ?leq_addl.
have up : D * B ^+ k + E * B ^+ l <= (D + E) * B ^+ (k + l).
  by rewrite mulrDl; apply: lerD; apply: ler_wpM2l.
split=> [x bx|x y h bx hy h0 xy]; rewrite !mevalD.
  by apply: le_trans (ler_normD _ _) (le_trans (lerD (G1 x bx) (H1 x bx)) up).
rewrite opprD addrACA; apply: le_trans (ler_normD _ _) _.
apply: le_trans (lerD (G2 _ _ _ bx hy h0 xy) (H2 _ _ _ bx hy h0 xy)) _.
by rewrite -mulrDl; apply: ler_wpM2r.
Qed.

Lemma tameM G H : tame G -> tame H -> tame (G * H).
Proof.
move=> [D [k [D0 tG]]] [E [l [E0 tH]]]; exists (2%:R * (D * E)), (k + l)%N.
split; first by rewrite !mulr_ge0.
move=> B B1; have [G1 G2] := tG B B1; have [H1 H2] := tH B B1.
have B0 : 0 <= B := le_trans ler01 B1.
have dB : 0 <= D * B ^+ k by rewrite mulr_ge0 ?exprn_ge0.
have eB : 0 <= E * B ^+ l by rewrite mulr_ge0 ?exprn_ge0.
have two : 2%:R * (D * E) * B ^+ (k + l) = 2%:R * ((D * B ^+ k) * (E * B ^+ l)).
  by rewrite exprD; ring.
split=> [x bx|x y h bx hy h0 xy]; rewrite !mevalM two.
  rewrite normrM; apply: le_trans (ler_pM _ _ (G1 x bx) (H1 x bx)) _ => //.
  by apply: ler_peMl; [apply: mulr_ge0|rewrite ler1n].
have -> : G.@[x] * H.@[x] - G.@[y] * H.@[y] =
  G.@[x] * (H.@[x] - H.@[y]) + (G.@[x] - G.@[y]) * H.@[y] by ring.
apply: le_trans (ler_normD _ _) _; rewrite !normrM.
have := ler_pM (normr_ge0 _) (normr_ge0 _) (G1 x bx) (H2 _ _ _ bx hy h0 xy).
have := ler_pM (normr_ge0 _) (normr_ge0 _) (G2 _ _ _ bx hy h0 xy) (H1 y hy).
move: (D * _) (E * _) => p q; move=> h1 h2; apply: le_trans (lerD h2 h1) _.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Lemma tame_poly G : tame G.
Proof.
have tX k i : tame ('X_i ^+ k).
  by elim: k => [|k IH]; rewrite ?expr0 ?exprS; [apply: (tameC 1)|apply: tameM (tameX i) IH].
rewrite (mpolyE G); elim/big_ind: _ => [|p q|m _].
- exact: (tameC 0).
- exact: tameD.
rewrite -mul_mpolyC; apply: tameM (tameC _) _; rewrite mpolyXE_id.
by elim/big_ind: _ => [|p q|i _]; [apply: (tameC 1)|apply: tameM|apply: tX].
Qed.

End Lipschitz.

(* The cells of a cube that hold zeros. *)
Section Cells.
Variables (R : archiFieldType) (n : nat) (G : {mpoly R[n]}) (D : R) (k : nat).
Hypothesis G0 : G != 0.
Hypothesis D0 : 0 <= D.
Hypothesis tame_G : forall B : R, 1 <= B ->
  forall x y (h : R), bounded_by B x -> bounded_by B y -> 0 <= h -> (forall i, `|x i - y i| <= h) ->
     `|G.@[x] - G.@[y]| <= D * B ^+ k * h.
Variable b : nat.
Let B : R := b.+1%:R.
Let B1 : 1 <= B. Proof. by rewrite /B ler1n. Qed.
Let B0 : 0 < B. Proof. exact: lt_le_trans ltr01 B1. Qed.

(* Point j of M on the way from - B to B. *)
Definition cube_tick M (j : nat) : R := tick (2%:R * B) (- B) M j.

(* The corners of the cells where G is small, which are those that may hold zeros. *)
Definition small_corners M : pred {ffun 'I_n -> 'I_M} :=
  [pred c : {ffun 'I_n -> 'I_M} |
    `|G.@[fun i => cube_tick M (c i)]| <= D * B ^+ k * (2%:R * B / M%:R)].

Arguments small_corners : clear implicits.

Lemma markS M j : cube_tick M j.+1 - cube_tick M j = 2%:R * B / M%:R.
Proof. by rewrite /cube_tick /tick -natr1; ring. Qed.

Lemma few_corners e : (0 < e)%N -> exists M, (0 < M)%N && (#|small_corners M| * e <= M ^ n)%N.
Proof.
move=> e0; have B20 : 0 < 2%:R * B by rewrite mulr_gt0 ?ltr0n.
have [delta d0 [K few]] := few_small B20 (fun=> - B) e0 G0.
pose q := D * B ^+ k * (2%:R * B) / delta.
have q0 : 0 <= q by rewrite divr_ge0 ?mulr_ge0 ?exprn_ge0 // ltW.
exists (maxn K (Num.bound q).+1); set M := maxn _ _.
have M0 : (0 < M)%N by rewrite leq_max orbT.
rewrite M0; apply: leq_trans (few M (leq_maxl _ _)); rewrite leq_mul2r; apply/orP; right.
apply: subset_leq_card; apply/subsetP => c; rewrite !inE => /le_trans; apply.
rewrite mulrA ler_pdivrMr ?ltr0n // -ler_pdivrMl // mulrC -/q.
apply: le_trans (ltW (archi_boundP q0)) _; rewrite ler_nat.
by apply: leq_trans (leqnSn _) (leq_maxr _ _).
Qed.

Lemma whole_part M (y : R) : (0 < M)%N -> 0 <= y <= M%:R ->
  exists j : 'I_M, j%:R <= y <= j.+1%:R.
Proof.
case: M => // M _; elim: M => [|M IH] /andP[y0 yM]; first by exists ord0; rewrite y0.
have [yl|yl] := leP y M.+1%:R; last by exists ord_max; rewrite (ltW yl).
have [|j jy] := IH; first by rewrite y0.
by exists (widen j).
Qed.

Lemma zero_in_cell M (x : 'I_n -> R) : (0 < M)%N -> bounded_by B x -> G.@[x] = 0 ->
  exists2 c, small_corners M c & forall i, cube_tick M (c i) <= x i <= cube_tick M (c i).+1.
Proof.
move=> M0 bx zero; have MR : 0 < M%:R :> R by rewrite ltr0n.
have h0 : 0 < 2%:R * B / M%:R by rewrite divr_gt0 // mulr_gt0 ?ltr0n.
have markE j : cube_tick M j = - B + j%:R * (2%:R * B / M%:R) by rewrite /cube_tick /tick; ring.
have hM : M%:R * (2%:R * B / M%:R) = 2%:R * B by rewrite mulrC divfK ?lt0r_neq0.
have /fin_all_exists[c cx] : forall i, exists j : 'I_M, cube_tick M j <= x i <= cube_tick M j.+1.
  move=> i; have := bx i; rewrite ler_norml => /andP[lo hi].
  have [|j /andP[jl jr]] := @whole_part M ((x i + B) / (2%:R * B / M%:R)) M0.
    apply/andP; split; first by apply: divr_ge0; [lra|apply: ltW].
    by rewrite ler_pdivrMr // hM; lra.
  by exists j; move: jl jr; rewrite ler_pdivlMr // ler_pdivrMr // !markE; lra.
exists [ffun i => c i]; last by move=> i; rewrite ffunE.
rewrite /small_corners /= -[X in `|X|]subr0 -zero.
rewrite (@meval_eq _ _ _ (fun i => cube_tick M (c i))) => [|i]; last by rewrite ffunE.
apply: tame_G => //; last 2 first.
- exact: ltW.
- by move=> i; have := cx i; have := markS M (c i); rewrite ler_norml; lra.
move=> i; rewrite markE ler_norml; apply/andP; split.
  by rewrite lerDl mulr_ge0 // ltW.
have : (c i)%:R * (2%:R * B / M%:R) <= M%:R * (2%:R * B / M%:R).
  by rewrite ler_pM2r // ler_nat ltnW.
by rewrite hM; lra.
Qed.

End Cells.
Arguments small_corners {R n}.

(* --- null sets -------------------------------------------------------------------------------- *)

(* A box in the space of the weights, which T names: from its lower to its upper corner. *)
Definition weight_box (R : Type) (T : finType) : Type := (T -> R) * (T -> R).

Section NullSets.
Variables (R : numDomainType) (T : finType).
Implicit Types (w : T -> R) (b : weight_box R T).

Definition in_box b w : bool := [forall t, b.1 t <= w t <= b.2 t].
Definition volume b : R := \prod_t `|b.2 t - b.1 t|.

(* A null set: for every eps > 0, countably many boxes, given as a sequence of finite lists, cover
   it, and the sum of their volumes, however many are summed, is at most eps. Over the reals these
   are the null sets of Lebesgue's measure. (Over a countable field, such as the rational numbers,
   every set is one; there, zeros_in_cube and cube_volume say more.) *)
Definition null_set (Z : (T -> R) -> Prop) : Prop := forall eps : R, 0 < eps ->
  exists boxes : nat -> seq (weight_box R T),
    (forall w, Z w -> exists k, has (fun b => in_box b w) (boxes k)) /\
    forall N, \sum_(k < N) \sum_(b <- boxes k) volume b <= eps.

(* P holds for almost all weights: it fails on a null set (so, by the excluded middle, it holds
   outside one). *)
Definition almost_all (P : (T -> R) -> Prop) : Prop := null_set (fun w => ~ P w).

(* P holds for weights as near to any weights as one likes. *)
Definition dense (P : (T -> R) -> Prop) : Prop := forall w (eps : R), 0 < eps ->
  exists2 w', P w' & forall t, `|w' t - w t| <= eps.

Lemma null_set_sub (Y Z : (T -> R) -> Prop) : (forall w, Z w -> Y w) -> null_set Y -> null_set Z.
Proof.
move=> ZY nY eps e0; have [boxes [cover total]] := nY eps e0.
by exists boxes; split=> // w /ZY /cover.
Qed.

Lemma almost_all_sub (P Q : (T -> R) -> Prop) : (forall w, P w -> Q w) ->
  almost_all P -> almost_all Q.
Proof. by move=> PQ; apply: null_set_sub => w nQ /PQ. Qed.

End NullSets.

Lemma halves (R : realFieldType) N : \sum_(k < N) (2%:R ^+ k.+1)^-1 = 1 - (2%:R ^+ N)^-1 :> R.
Proof.
elim: N => [|N IH]; first by rewrite big_ord0 expr0 invr1 subrr.
rewrite big_ord_recr IH /= exprS invfM; by move: (_ ^+ _)^-1 => x; lra.
Qed.

(* List b of the boxes covers the zeros in the cube from - (b + 1) to b + 1. *)
Lemma zeros_covered (R : archiFieldType) (T : finType) (G : {mpoly R[#|T|]}) (eps : R) :
  G != 0 -> 0 < eps -> exists boxes : nat -> seq (weight_box R T),
    (forall b (w : T -> R), (forall t, `|w t| <= b.+1%:R) -> G.@[fun k => w (enum_val k)] = 0 ->
       has (fun c => in_box c w) (boxes b)) /\
    forall N, \sum_(b < N) \sum_(c <- boxes b) volume c <= eps.
Proof.
move=> G0 eps0; have [D [k [D0 tame_G]]] := tame_poly G.
pose e := Num.bound eps^-1; have ie0 : 0 < eps^-1 by rewrite invr_gt0.
have e_eps := archi_boundP (ltW ie0); rewrite -/e in e_eps.
have e0 : (0 < e)%N by rewrite -(ltr0n R); apply: lt_trans e_eps.
pose share b := ((2 * b.+1) ^ #|T| * 2 ^ b.+1 * e)%N.
have share0 b : (0 < share b)%N by rewrite !muln_gt0 !expn_gt0 e0.
pose M b := ex_minn (few_corners k G0 D0 b (share0 b)).
have M0 b : (0 < M b)%N by rewrite /M; case: ex_minnP => m /andP[].
have few b : (#|small_corners G D k b (M b)| * share b <= M b ^ #|T|)%N.
  by rewrite /M; case: ex_minnP => m /andP[].
pose cell b (c : {ffun 'I_#|T| -> 'I_(M b)}) : weight_box R T :=
  (fun t => cube_tick R b (M b) (c (enum_rank t)),
   fun t => cube_tick R b (M b) (c (enum_rank t)).+1).
exists (fun b => [seq cell b c | c <- enum (small_corners G D k b (M b))]); split=> [b w bw zero|N].
  pose x (i : 'I_#|T|) := w (enum_val i); have bx : bounded_by b.+1%:R x by move=> i; apply: bw.
  have [c sc cx] := zero_in_cell (fun B B1 => (tame_G B B1).2) (M0 b) bx zero.
  rewrite has_map; apply/hasP; exists c; first by rewrite mem_enum.
  by apply/forallP => t; have := cx (enum_rank t); rewrite /x enum_rankK.
apply: (@le_trans _ _ (\sum_(b < N) (2%:R ^+ b.+1)^-1 * e%:R^-1)); last first.
  rewrite -mulr_suml halves; apply: (@le_trans _ _ e%:R^-1).
    by rewrite ler_piMl ?invr_ge0 // lerBlDr lerDl invr_ge0 exprn_ge0.
  by rewrite -[eps]invrK lef_pV2 ?posrE ?ltr0n // ltW.
apply: ler_sum => -[b bN] _ /=; rewrite big_map big_enum /=.
rewrite (eq_bigr (fun=> (2%:R * b.+1%:R / (M b)%:R) ^+ #|T|)) => [|c _]; last first.
  rewrite /volume (eq_bigr (fun=> 2%:R * b.+1%:R / (M b)%:R)) => [|t _]; last first.
    rewrite /= markS; apply: ger0_norm.
    by apply: divr_ge0; [apply: mulr_ge0; apply: ler0n|apply: ler0n].
  by rewrite prodr_const.
rewrite sumr_const -mulr_natr expr_div_n mulrAC ler_pdivrMr ?exprn_gt0 ?ltr0n //.
rewrite -invfM ler_pdivlMl ?mulr_gt0 ?exprn_gt0 ?ltr0n //.
rewrite -!natrX -!natrM -natrX -!natrM ler_nat; apply: leq_trans (few b).
by rewrite /share eq_leq //; ring.
Qed.

Lemma volume_ge0 (R : numDomainType) (T : finType) (b : weight_box R T) : 0 <= volume b.
Proof. by apply: prodr_ge0 => t _; apply: normr_ge0. Qed.

(* The zeros of a polynomial that is not zero are a null set. *)
Theorem zeros_null (R : archiFieldType) (T : finType) (G : {mpoly R[#|T|]}) : G != 0 ->
  null_set (fun w : T -> R => G.@[fun k => w (enum_val k)] = 0).
Proof.
move=> G0 eps eps0; have [boxes [cover total]] := zeros_covered G0 eps0.
exists boxes; split=> // w zero; pose b := Num.bound (\sum_t `|w t|); exists b.
apply: cover zero => t; apply: (@le_trans _ _ (\sum_t `|w t|)).
  by rewrite (bigD1 t) //= lerDl sumr_ge0.
apply: le_trans (ltW (archi_boundP _)) _; first by rewrite sumr_ge0.
by rewrite ler_nat.
Qed.

(* In a cube, finitely many boxes of total volume at most eps cover all zeros. *)
Theorem zeros_in_cube (R : archiFieldType) (T : finType) (G : {mpoly R[#|T|]}) (B eps : R) :
  G != 0 -> 0 < eps -> exists boxes : seq (weight_box R T),
    (forall w : T -> R, (forall t, `|w t| <= B) -> G.@[fun k => w (enum_val k)] = 0 ->
       has (fun b => in_box b w) boxes) /\
    \sum_(b <- boxes) volume b <= eps.
Proof.
move=> G0 eps0; have [boxes [cover total]] := zeros_covered G0 eps0.
pose b := Num.bound `|B|; exists (boxes b); split=> [w wB|].
  apply: cover => t; apply: le_trans (wB t) _; apply: le_trans (ler_norm B) _.
  by apply: le_trans (ltW (archi_boundP (normr_ge0 B))) _; rewrite ler_nat.
apply: le_trans (total b.+1); rewrite big_ord_recr /= lerDr sumr_ge0 // => k _.
by rewrite sumr_ge0 // => c _; apply: volume_ge0.
Qed.

(* --- the volume of what covers a cube --------------------------------------------------------- *)

Lemma ticks_between (R : realFieldType) M (lo hi : R) : (0 < M)%N ->
  #|[pred j : 'I_M | lo <= j%:R / M%:R <= hi]|%:R <= `|hi - lo| * M%:R + 1.
Proof.
move=> M0; have MR : 0 < M%:R :> R by rewrite ltr0n.
set S := [pred j : 'I_M | _].
case: (pickP S) => [j0 Sj0|none]; last first.
  by rewrite (eq_card0 none) addr_ge0 // mulr_ge0.
case: (arg_minnP (fun j : 'I_M => j : nat) Sj0) => a Sa amin.
case: (arg_maxnP (fun j : 'I_M => j : nat) Sj0) => z Sz zmax.
have az : (a <= z)%N := amin z Sz.
have few : (#|S| <= (z - a).+1)%N.
  rewrite cardE -(size_map val) -(size_iota a (z - a).+1); apply: uniq_leq_size.
    by rewrite (map_inj_uniq val_inj) enum_uniq.
  move=> k /mapP[j]; rewrite mem_enum => Sj ->; rewrite mem_iota /=.
  have := amin j Sj; have := zmax j Sj; lia.
apply: (@le_trans _ _ (z - a).+1%:R); first by rewrite ler_nat.
rewrite -natr1 natrB // lerD2r -ler_pdivrMr // mulrBl; apply: le_trans (ler_norm _).
move: Sa Sz; rewrite !inE => /andP[h1 h2] /andP[h3 h4]; lra.
Qed.

Lemma near_zero (R : realFieldType) (p : {poly R}) : exists2 C : R, 0 <= C &
  forall h, 0 <= h <= 1 -> p.[h] <= p.[0] + C * h.
Proof.
elim/poly_ind: p => [|p c [C C0 HC]].
  by exists 0 => // h _; rewrite !horner0 mul0r addr0.
exists (`|p.[0]| + C); first by rewrite addr_ge0.
move=> h /andP[h0 h1]; rewrite !hornerMXaddC mulr0 add0r addrC lerD2l.
apply: ler_wpM2r => //; apply: le_trans (HC h _) _; first by rewrite h0.
apply: lerD; first exact: ler_norm.
by rewrite -[X in _ <= X]mulr1; apply: ler_wpM2l.
Qed.

(* Finitely many boxes that cover the unit cube have a total volume of at least 1: so the volume
   that zeros_in_cube says may be as small as one likes is not so for what holds all of a cube. *)
Theorem cube_volume (R : archiFieldType) (T : finType) (boxes : seq (weight_box R T)) :
  (forall w : T -> R, (forall t, 0 <= w t <= 1) -> has (fun b => in_box b w) boxes) ->
  1 <= \sum_(b <- boxes) volume b.
Proof.
move=> cover.
pose q : {poly R} := \sum_(b <- boxes) \prod_t (`|b.2 t - b.1 t|%:P + 'X).
have qE h : q.[h] = \sum_(b <- boxes) \prod_t (`|b.2 t - b.1 t| + h).
  rewrite horner_sum; apply: eq_bigr => b _; rewrite horner_prod; apply: eq_bigr => t _.
  by rewrite !hornerE.
have many M : (0 < M)%N -> 1 <= q.[M%:R^-1].
  move=> M0; have MR : 0 < M%:R :> R by rewrite ltr0n.
  rewrite -(ler_pM2r (exprn_gt0 #|T| MR)) mul1r qE mulr_suml.
  pose pt (c : {ffun T -> 'I_M}) t : R := (c t)%:R / M%:R.
  have all_in c : has (fun b => in_box b (pt c)) boxes.
    apply: cover => t; rewrite /pt divr_ge0 //= ler_pdivrMr // mul1r ler_nat.
    exact: ltnW.
  apply: (@le_trans _ _ (\sum_(b <- boxes) #|[pred c | in_box b (pt c)]|%:R)).
    rewrite -natrX -natr_sum ler_nat -{1}(card_ord M) -card_ffun -sum1_card.
    rewrite (eq_bigr (fun b => \sum_(c : {ffun T -> 'I_M}) in_box b (pt c))%N); last first.
      by move=> b _; rewrite -sum1_card big_mkcond.
    rewrite exchange_big /=; apply: leq_sum => c _.
    by have := all_in c; rewrite has_count -sum1_count big_mkcond.
  apply: ler_sum => b _.
  have -> : #|[pred c | in_box b (pt c)]| =
      (\prod_t #|[pred j : 'I_M | (b.1 t <= j%:R / M%:R <= b.2 t)%R]|)%N.
    have cf := card_family (fun t => [pred j : 'I_M | (b.1 t <= j%:R / M%:R <= b.2 t)%R]).
    rewrite foldrE big_map big_enum /= in cf; rewrite -cf; apply: eq_card => c.
    by rewrite !inE; apply: eq_forallb => t.
  rewrite natr_prod -prodr_const -big_split /=; apply: ler_prod => t _; rewrite ler0n /=.
  by apply: le_trans (ticks_between _ _ M0) _; rewrite mulrDl mulVf ?lt0r_neq0.
have [C C0 HC] := near_zero q.
have -> : \sum_(b <- boxes) volume b = q.[0].
  by rewrite qE; apply: eq_bigr => b _; apply: eq_bigr => t _; rewrite addr0.
rewrite leNgt; apply/negP => small.
have d0 : 0 < 1 - q.[0] by rewrite subr_gt0.
have Cd : 0 <= C / (1 - q.[0]) by rewrite divr_ge0 // ltW.
pose M := (Num.bound (C / (1 - q.[0]))).+1; have MR : 0 < M%:R :> R by rewrite ltr0n.
have hM : C / (1 - q.[0]) < M%:R.
  by apply: lt_le_trans (archi_boundP Cd) _; rewrite ler_nat.
have iM : 0 <= (M%:R : R)^-1 <= 1 by rewrite invr_ge0 ler0n invf_le1 // ler1n.
have := le_trans (many M isT) (HC _ iM); rewrite -lerBlDl leNgt => /negP; apply.
by rewrite ltr_pdivrMr // mulrC -ltr_pdivrMr.
Qed.

(* --- properties of almost all weights --------------------------------------------------------- *)

(* What a theorem gives that has a polynomial G in the weights, not zero, where P holds unless G
   vanishes: P holds for almost all weights, that is, outside a null set; the weights where it holds
   are dense; and some weights have P, and on no line through them does it fail more than D times,
   for the same D on all lines. Weights are named by T, as in LinearAttention.v. *)
Theorem almost_all_weights (R : archiFieldType) (T : finType) (P : (T -> R) -> Prop) :
  (exists2 G : {mpoly R[#|T|]}, G != 0 &
    forall w : T -> R, G.@[fun k => w (enum_val k)] != 0 -> P w) ->
  [/\ almost_all P, dense P &
      exists (D : nat) (w : T -> R), P w /\ forall (v : T -> R) (bad : seq R), uniq bad ->
        (forall t, t \in bad -> ~ P (fun k => w k + t * v k)) -> (size bad <= D)%N].
Proof.
move=> [G G0 GP].
have named (x : 'I_#|T| -> R) : G.@[x] != 0 -> P (fun t => x (enum_rank t)).
  move=> good; apply: GP; rewrite (@meval_eq _ _ _ x) // => k; by rewrite enum_valK.
split.
- apply: null_set_sub (zeros_null G0) => w bad; apply/eqP; apply/negPn/negP => good.
  exact/bad/GP.
- move=> w eps eps0; have [x good near] := good_dense (fun k => w (enum_val k)) G0 eps0.
  exists (fun t => x (enum_rank t)); first exact: named.
  by move=> t; have := near (enum_rank t); rewrite enum_rankK.
have [x good] := good_exists G0; exists (msize G).-1, (fun t => x (enum_rank t)).
split; first exact: named.
move=> v bad uniq_bad fails.
apply: (zeros_on_line (w := x) (v := fun k => v (enum_val k)) good uniq_bad) => t /fails nP.
apply/eqP/negPn/negP => good_t; apply/nP/GP; move: good_t; congr (_ != 0).
by apply: meval_eq => k; rewrite enum_valK.
Qed.

(* --- instances -------------------------------------------------------------------------------- *)

(* x y, whose zeros are the two axes. *)
Definition axes (R : comRingType) : {mpoly R[2]} := 'X_0 * 'X_1.

Lemma variable_neq0 (R : idomainType) n (i : 'I_n) : 'X_i != 0 :> {mpoly R[n]}.
Proof. by rewrite -msupp_eq0 msuppX. Qed.

Lemma axes_neq0 (R : idomainType) : axes R != 0.
Proof. by rewrite mulf_neq0 ?variable_neq0. Qed.

Lemma axes_degree (R : idomainType) : (msize (axes R)).-1 = 2%N.
Proof. by rewrite msizeM ?variable_neq0 // !msizeX !mdeg1. Qed.

(* Of the 9 points of a grid, at most 6 are on the axes. *)
Example zeros_on_grid_example :
  (#|[pred c : {ffun 'I_2 -> 'I_3} |
       ((axes rat).@[fun i => (c i)%:R / 3%:R] == 0)%R]| * 3 <= 2 * 3 ^ 2)%N.
Proof. by have := zeros_share 3 (axes_neq0 rat); rewrite axes_degree. Qed.
Example zeros_finite_field_example :
  (#|[pred w : {ffun 'I_2 -> 'F_5} | ((axes 'F_5).@[w] == 0)%R]| * 5 <= 2 * 5 ^ 2)%N.
Proof. by have := zeros_finite_field (axes_neq0 'F_5); rewrite axes_degree card_Fp. Qed.

(* The line through (1, 1) in direction (1, -1) meets the axes twice, which is the degree. *)
Example zeros_on_line_example (v : 'I_2 -> rat := fun i => (-1) ^+ i) (bad : seq rat) : uniq bad ->
  (forall t, t \in bad -> (axes rat).@[fun i => 1 + t * v i] = 0) -> (size bad <= 2)%N.
Proof.
move=> uniq_bad zero; have good : (axes rat).@[fun=> 1] != 0 by rewrite mevalM !mevalXU mulr1.
by have := zeros_on_line good uniq_bad zero; rewrite axes_degree.
Qed.

Example good_exists_example : exists w, (axes rat).@[w] != 0.
Proof. exact/good_exists/axes_neq0. Qed.

(* Near the origin there are points that are not on the axes. *)
Example good_dense_example :
  exists2 w, (axes rat).@[w] != 0 & forall i, `|w i - 0| <= 10%:R^-1.
Proof. exact: (good_dense (fun=> 0) (axes_neq0 rat)). Qed.

(* The axes are a null set, and almost all pairs of weights are not on them. *)
Definition axes_of (R : comRingType) : {mpoly R[#|{: bool}|]} :=
  'X_(enum_rank true) * 'X_(enum_rank false).

Lemma axes_of_value (R : comRingType) (w : bool -> R) :
  (axes_of R).@[fun k => w (enum_val k)] = w true * w false.
Proof. by rewrite mevalM !mevalXU !enum_rankK. Qed.

Lemma axes_of_neq0 (R : idomainType) : axes_of R != 0.
Proof. by rewrite mulf_neq0 ?variable_neq0. Qed.

Example zeros_null_example (R : archiFieldType) :
  null_set (fun w : bool -> R => w true * w false = 0).
Proof.
by apply: null_set_sub (zeros_null (axes_of_neq0 R)) => w; rewrite axes_of_value.
Qed.
Example zeros_in_cube_example (R : archiFieldType) : exists boxes : seq (weight_box R bool),
  (forall w : bool -> R, (forall t, `|w t| <= 1) -> w true * w false = 0 ->
     has (fun b => in_box b w) boxes) /\ \sum_(b <- boxes) volume b <= 10%:R^-1.
Proof.
have eps0 : (0 : R) < 10%:R^-1 by rewrite invr_gt0 ltr0n.
have [boxes [cover total]] := zeros_in_cube 1 (axes_of_neq0 R) eps0.
by exists boxes; split=> // w w1; have := cover w w1; rewrite axes_of_value.
Qed.
Example cube_volume_example : 1 <= volume ((fun=> 0, fun=> 1) : weight_box rat bool).
Proof.
have := @cube_volume rat bool [:: (fun=> 0, fun=> 1)]; rewrite big_seq1; apply=> w cube /=.
by rewrite orbF; apply/forallP.
Qed.
Example almost_all_weights_example (R : archiFieldType) :
  almost_all (fun w : bool -> R => w true * w false != 0).
Proof.
have [] // := @almost_all_weights R _ (fun w : bool -> R => w true * w false != 0).
by exists (axes_of R) => [|w]; rewrite ?axes_of_neq0 ?axes_of_value.
Qed.
