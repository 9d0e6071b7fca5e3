(* Weights of 0 and 1 under which every head multiplies its coordinate by a moment of its own, so
   that the output is one monomial in the moments, and shifts that spread its exponents evenly: the
   separation rank of almost all weights of 3^m heads, as in
   theory/separation_rank/monomial_net.py. No softmax, no residual connections, all positions
   attend.

   In layer l head c reads coordinate c of the query token, and coordinates pair l c of the other
   tokens as value and key. The objects stand in LinearAttention.v, Degree.v and SeparationRank.v;
   the grid of tokens, and why independent functions give a matrix of full rank, in Refutation.v. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From SsrMultinomials Require Import mpoly.
From depthlaw Require Import LinearAttention Degree SeparationRank Refutation.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* --- the exponents ---------------------------------------------------------------------------- *)

Section Exponents.
Variables (I : Type) (w : nat) (pair : I -> 'I_w -> 'I_w * 'I_w) (p : 'I_w).
Local Notation moment := ('I_w * 'I_w)%type.

(* How often coordinate c divides x_p times the monomial with exponents e. *)
Definition total (e : moment -> nat) (c : 'I_w) : nat :=
  ((c == p) + \sum_t e t * ((t.1 == c) + (t.2 == c)))%N.

(* The exponents of the moments in the output, for layers from first to last. *)
Fixpoint exponents (s : seq I) (t : moment) : nat :=
  if s is l :: rest then
    (exponents rest t + \sum_c total (exponents rest) c * (pair l c == t))%N
  else 0%N.

Lemma total_cons l s c : total (exponents (l :: s)) c =
  (total (exponents s) c +
   \sum_b total (exponents s) b * (((pair l b).1 == c) + ((pair l b).2 == c)))%N.
Proof.
rewrite {1}/total /= (eq_bigr (fun t => (exponents s t * ((t.1 == c) + (t.2 == c)) +
  \sum_b total (exponents s) b * (pair l b == t) * ((t.1 == c) + (t.2 == c)))%N)); last first.
  by move=> t _; rewrite mulnDl big_distrl.
rewrite big_split /= addnA; congr (_ + _)%N.
rewrite exchange_big /=; apply: eq_bigr => b _.
rewrite (bigD1 (pair l b)) //= big1 => [|t tb]; last by rewrite eq_sym (negbTE tb) muln0 mul0n.
by rewrite eqxx muln1 addn0.
Qed.

(* Each layer adds its totals to its own moments; later layers take nothing away. *)
Lemma exponents_ge s1 l s2 c :
  (total (exponents s2) c <= exponents (s1 ++ l :: s2) (pair l c))%N.
Proof.
elim: s1 => [|l' s1 IH] /=; last by apply: leq_trans IH (leq_addr _ _).
apply: leq_trans (leq_addl _ _); rewrite (bigD1 c) //= eqxx muln1; exact: leq_addr.
Qed.

End Exponents.

(* --- the weights and their output ------------------------------------------------------------- *)

Section Monomial.
Variables (L w H a d : nat) (a0 : 'I_a) (f : 'I_w -> 'I_d).
Variable pair : 'I_L -> 'I_w -> 'I_w * 'I_w.
Hypotheses (f_inj : injective f) (wH : (w <= H)%N).

(* Head c of layer l: query and output pick coordinate f c, value and key those of the pair. The
   heads from w on are zero. *)
Definition monomial_weights (R : comRingType) (t : weight_name L H a d) : R :=
  let: (l, h, s, k, q) := t in
  if insub (val h) is Some c then
    ((k == a0) && (q == f (if s == inord 1 then (pair l c).2 else
      if s == inord 2 then (pair l c).1 else c)))%:R
  else 0.

Variable R : comRingType.
Local Notation weights := (monomial_weights R).
Local Notation moment M t := (M (f t.1) (f t.2)).

Definition diagonal (M : 'M[R]_d) l : 'M[R]_d :=
  \sum_c moment M (pair l c) *: delta_mx (f c) (f c).

Lemma monomial_layer l (M : 'M[R]_d) : layer_matrix (layer_of weights l) M = diagonal M l.
Proof.
have ne (s t : nat) : (s < 4)%N -> (t < 4)%N -> s != t -> (inord s == inord t :> 'I_4) = false.
  by move=> s4 t4 st; rewrite -val_eqE /= !inordK //; apply/negbTE.
rewrite /layer_matrix big_map big_enum /=.
pose F (i : nat) : 'M[R]_d :=
  if insub i is Some c then moment M (pair l c) *: delta_mx (f c) (f c) else 0.
have head h : (\matrix_(q, k) weights (l, h, inord 3, k, q)) *m
    (\matrix_(k, q) weights (l, h, inord 2, k, q)) *m M *m
    (\matrix_(k, q) weights (l, h, inord 1, k, q))^T *m
    (\matrix_(k, q) weights (l, h, inord 0, k, q)) = F h.
  rewrite /F; case E: (insub (val h)) => [c|]; last first.
    have -> : \matrix_(q, k) weights (l, h, inord 3, k, q) = 0 :> 'M[R]_(d, a).
      by apply/matrixP => q k; rewrite !mxE /= E.
    by rewrite !mul0mx.
  have -> : \matrix_(q, k) weights (l, h, inord 3, k, q) = delta_mx (f c) a0.
    by apply/matrixP => q k; rewrite !mxE /= E !ne // andbC.
  have -> : \matrix_(k, q) weights (l, h, inord 2, k, q) = delta_mx a0 (f (pair l c).1).
    by apply/matrixP => k q; rewrite !mxE /= E ne // eqxx.
  have -> : \matrix_(k, q) weights (l, h, inord 1, k, q) = delta_mx a0 (f (pair l c).2).
    by apply/matrixP => k q; rewrite !mxE /= E eqxx.
  have -> : \matrix_(k, q) weights (l, h, inord 0, k, q) = delta_mx a0 (f c).
    by apply/matrixP => k q; rewrite !mxE /= E !ne.
  rewrite mul_delta_mx trmx_delta -!mulmxA mul_delta_mx.
  apply/matrixP => q q'; rewrite !mxE (bigD1 (f (pair l c).1)) //= big1 => [|r rp].
    rewrite !mxE eqxx andbT addr0 (bigD1 (f (pair l c).2)) //= big1 => [|r rp].
      rewrite !mxE eqxx addr0 /=; case: (q == _); case: (q' == _);
        by rewrite ?mul1r ?mulr1 ?mul0r ?mulr0.
    by rewrite !mxE (negbTE rp) mulr0.
  by rewrite !mxE (negbTE rp) andbF mul0r.
rewrite (eq_bigr (fun h : 'I_H => F h)) => [|h _]; last exact: head.
transitivity (\sum_(c < w) F c); last by apply: eq_bigr => c _; rewrite /F valK.
rewrite (big_ord_widen _ F wH) [RHS]big_mkcond; apply: eq_bigr => h _.
by case: ifP => // hw; rewrite /F insubF.
Qed.

Lemma diagonal_row n (M : 'M[R]_d) l (N : 'M[R]_(d, n)) c q :
  (diagonal M l *m N) (f c) q = moment M (pair l c) * N (f c) q.
Proof.
rewrite /diagonal mulmx_suml summxE (bigD1 c) //= big1 => [|b bc].
  rewrite addr0 -scalemxAl mxE; congr (_ * _).
  rewrite mxE (bigD1 (f c)) //= big1 => [|r rc]; last by rewrite mxE (negbTE rc) andbF mul0r.
  by rewrite mxE !eqxx mul1r addr0.
rewrite -scalemxAl mxE mxE big1 ?mulr0 // => r _.
by rewrite mxE (inj_eq f_inj) [c == b]eq_sym (negbTE bc) mul0r.
Qed.

Lemma diagonal_tr (M : 'M[R]_d) l : (diagonal M l)^T = diagonal M l.
Proof.
by rewrite /diagonal raddf_sum; apply: eq_bigr => c _; rewrite /= linearZ /= trmx_delta.
Qed.

Lemma prod_total (g : 'I_w -> R) (e : 'I_w * 'I_w -> nat) p :
  g p * \prod_t (g t.1 * g t.2) ^+ e t = \prod_c g c ^+ total p e c.
Proof.
have one (b : 'I_w) k : g b ^+ k = \prod_c g c ^+ (k * (b == c)).
  rewrite (bigD1 b) //= big1 => [|c cb]; last by rewrite eq_sym (negbTE cb) muln0.
  by rewrite eqxx muln1 mulr1.
rewrite -[g p]expr1 (one p 1%N) (eq_bigr (fun t => \prod_c g c ^+ (e t * ((t.1 == c) + (t.2 == c)))))
  => [|t _].
  rewrite exchange_big -big_split /=; apply: eq_bigr => c _.
  by rewrite prodrXr -exprD /total mul1n [p == c]eq_sym.
rewrite exprMn !one -big_split /=; apply: eq_bigr => c _.
by rewrite -exprD mulnDr.
Qed.

(* Coordinate f p of the output is that of the token times powers of moments. *)
Lemma monomial_value (s : seq 'I_L) (M : 'M[R]_d) (x : 'cV[R]_d) p :
  (net_matrix (map (layer_of weights) s) M *m x) (f p) 0 =
  x (f p) 0 * \prod_t moment M t ^+ exponents pair p s t.
Proof.
elim: s M x => [|l s IH] M x /=.
  by rewrite mul1mx big1 ?mulr1.
rewrite -(mulmxA (net_matrix _ _)) IH monomial_layer diagonal_tr diagonal_row.
pose g c := moment M (pair l c).
have E (t : 'I_w * 'I_w) : (diagonal M l *m M *m diagonal M l) (f t.1) (f t.2) =
    g t.1 * g t.2 * moment M t.
  rewrite -mulmxA diagonal_row -/(g _) -[M *m _]trmxK mxE trmx_mul diagonal_tr diagonal_row.
  by rewrite mxE -/(g _) mulrA.
rewrite (eq_bigr (fun t => (g t.1 * g t.2) ^+ exponents pair p s t *
  moment M t ^+ exponents pair p s t)) => [|t _]; last by rewrite E exprMn.
rewrite big_split /= mulrA [g p * _]mulrC -[x _ _ * _ * _]mulrA prod_total -mulrA; congr (_ * _).
rewrite [in RHS](eq_bigr (fun t => moment M t ^+ exponents pair p s t * \prod_c
  moment M t ^+ (total p (exponents pair p s) c * (pair l c == t)))) => [|t _]; last first.
  by rewrite exprD prodrXr.
rewrite [in RHS]big_split /= mulrC; congr (_ * _).
rewrite [in RHS]exchange_big /=; apply: eq_bigr => c _.
rewrite [in RHS](bigD1 (pair l c)) //= [X in _ * X]big1 => [|t tc].
  by rewrite eqxx muln1 mulr1.
by rewrite eq_sym (negbTE tc) muln0.
Qed.

End Monomial.

(* --- values on the grid form a matrix of full rank -------------------------------------------- *)

Section FullRank.
Variables (K : fieldType) (L w H a d : nat) (a0 : 'I_a) (f : 'I_w -> 'I_d) (p : 'I_w).
Variable pair : 'I_L -> 'I_w -> 'I_w * 'I_w.
Hypotheses (f_inj : injective f) (wH : (w <= H)%N).
Hypothesis char0 : forall k, (0 < k)%N -> k%:R != 0 :> K.
Hypothesis pair_upper : forall l c, ((pair l c).1 <= (pair l c).2)%N.

Definition powers_of := exponents pair p (enum 'I_L).
Definition largest := (\max_t powers_of t)%N.
Local Notation box := (@box [finType of 'I_w * 'I_w] largest powers_of).
Local Notation point := {ffun 'I_w * 'I_w -> 'I_largest.+1}.
Local Notation token j := (grid_token K f j).
Local Notation form t j := ((grid_moment t j)%:R : K).
Local Notation net := (net_of (monomial_weights a0 f pair K : weight_name L H a d -> K)).

Lemma powers_upper (b c : 'I_w) : (c < b)%N -> powers_of (b, c) = 0%N.
Proof.
move=> cb; rewrite /powers_of; elim: (enum _) => //= l s ->; rewrite big1 // => c' _.
case: eqP => [E|]; rewrite ?muln0 //.
by have := pair_upper l c'; rewrite E /= leqNgt cb.
Qed.

Lemma powers_largest t : (powers_of t <= largest)%N.
Proof. exact: (leq_bigmax t). Qed.

Definition values (layers : seq (seq (head K d a))) : 'M[K]_#|box| :=
  \matrix_(s, t) grid_output layers p (f p) (token (enum_val s)) (token (enum_val t)).

Lemma one_value (j j' : point) : grid_output net p (f p) (token j) (token j') =
  \sum_(k in box) ((token j p) (f p) 0 * \prod_t form t j ^+ (powers_of t - k t)) *
    \prod_t (form t j' ^+ k t *+ 'C(powers_of t, k t)).
Proof.
rewrite /grid_output monomial_value // -/powers_of.
transitivity ((token j p) (f p) 0 * \prod_t \sum_(q < largest.+1 | (q <= powers_of t)%N)
    form t j ^+ (powers_of t - q) * (form t j' ^+ q *+ 'C(powers_of t, q))).
  congr (_ * _); apply: eq_bigr => -[b c] _ /=.
  rewrite mxE !(grid_momentE _ f_inj) exprDn.
  rewrite (big_ord_widen largest.+1 (fun q => form (b, c) j ^+ (powers_of (b, c) - q) *
    form (b, c) j' ^+ q *+ 'C(powers_of (b, c), q))) ?ltnS ?powers_largest //.
  by apply: eq_bigr => q _; rewrite mulrnAr.
rewrite bigA_distr_big_dep mulr_sumr; apply: eq_bigr => k _.
by rewrite big_split mulrA.
Qed.

Lemma values_unit : values net \in unitmx.
Proof.
pose X := \matrix_(s < #|box|, t < #|box|)
  \prod_u form u (enum_val s) ^+ (powers_of u - enum_val t u).
pose Y := \matrix_(s < #|box|, t < #|box|)
  \prod_u (form u (enum_val s) ^+ enum_val t u *+ 'C(powers_of u, enum_val t u)).
pose D := diag_mx (\row_(s < #|box|) (token (enum_val s) p) (f p) 0).
have -> : values net = D *m X *m Y^T.
  apply/matrixP => s t; rewrite mxE one_value big_enum_val [RHS]mxE; apply: eq_bigr => k _.
  rewrite mul_diag_mx !mxE; by [].
have low t (j j' : point) : (forall t', (grid_rank t' <= grid_rank t)%N -> j t' = j' t') ->
    form t j = form t j' by move=> E; congr _%:R; apply: grid_low.
have inj t (j : point) (q q' : 'I_largest.+1) : j \in box ->
    (q <= powers_of t)%N -> (q' <= powers_of t)%N ->
    form t (set_at j t q) = form t (set_at j t q') -> q = q'.
  by move=> jb qe qe' /(natr_inj char0); apply: grid_inj qe qe'; [exact: powers_upper|].
rewrite !unitmx_mul unitmx_tr -andbA; apply/and3P; split.
- rewrite unitmxE det_diag unitfE; apply/prodf_neq0 => s _.
  by rewrite mxE (grid_tokenE _ f_inj) /entry ltnn eqxx char0.
- apply: (tower_unit (b := fun t q x => x ^+ (powers_of t - q)) (@grid_rank_inj w) low inj).
  by move=> t x c; apply: powers_down; apply: powers_largest.
apply: (tower_unit (b := fun t q x => x ^+ q *+ 'C(powers_of t, q)) (@grid_rank_inj w) low inj).
move=> t x c x_inj Hc q qe.
have : c q * ('C(powers_of t, q))%:R = 0.
  apply: (powers (c := fun q => c q * ('C(powers_of t, q))%:R) (powers_largest t) x_inj)
    => // s se.
  rewrite -[RHS](Hc s se); apply: eq_bigr => k _.
  by rewrite -[in RHS]mulr_natl mulrA.
by move/eqP; rewrite mulf_eq0 => /orP[/eqP//|]; rewrite (negbTE (char0 _)) // bin_gt0.
Qed.

Lemma card_values : #|box| = (\prod_t (powers_of t).+1)%N.
Proof. by apply: card_box; apply: powers_largest. Qed.

(* What the output at the explicit weights has, any net has whose matrix of values is of full
   rank. *)
Lemma values_rank n (layers : seq (seq (head K d a))) (A : {set 'I_n}) i r :
  values layers \in unitmx -> (w <= #|A|)%N -> (w <= #|~: A|)%N ->
  sep_le (side_output false layers A i (f p)) r -> (\prod_t (powers_of t).+1 <= r)%N.
Proof.
rewrite -card_values; wlog iA : A / i \in A => [W|].
  have [iA|iA] := boolP (i \in A); first exact: W.
  move=> U HA HB S; apply: (W (~: A)) => //; rewrite ?inE ?setCK //.
  apply: eq_sep_le (sep_le_flip S) => u v; rewrite /side_output.
  suff /eq_net -> : join A v u =1 join (~: A) u v by [].
  by move=> j; rewrite /join inE; case: (j \in A).
move=> U HA HB S; have [g [gi gA] gh0] := injection_through p HA iA.
have [B0 B0B] : exists j, j \in ~: A.
  by apply/set0Pn; rewrite -card_gt0; apply: leq_trans HB; apply: leq_ltn_trans (ltn_ord p).
have [g' [gi' gB] _] := injection_through p HB B0B.
apply: (sep_le_rank (a := fun s => Refutation.spread g (token (enum_val s)))
  (b := fun t => Refutation.spread g' (token (enum_val t))) S).
suff -> : \matrix_(s, t) side_output false layers A i (f p)
    (Refutation.spread g (token (enum_val s))) (Refutation.spread g' (token (enum_val t))) =
  values layers by [].
apply/matrixP => s t; rewrite !mxE /side_output normal_form /grid_output join_moments //.
  by rewrite /join iA -gh0 spreadE.
by move=> h; have := gB h; rewrite inE.
Qed.

(* Where a polynomial in the weights, not zero, does not vanish, the values have full rank. *)
Lemma values_condition : exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
  forall v : weight_name L H a d -> K, G.@[fun k => v (enum_val k)] != 0 ->
    values (net_of v) \in unitmx.
Proof.
pose N := #|weight_name L H a d|.
pose X (t : weight_name L H a d) : {mpoly K[N]} := 'X_(enum_rank t).
pose C := [rmorphism of @mpolyC N K].
pose M : 'M[{mpoly K[N]}]_#|box| := \matrix_(s, t)
  grid_output (net_of X) p (f p) (fun h => map_mx C (token (enum_val s) h))
    (fun h => map_mx C (token (enum_val t) h)).
have ME v : (\det M).@[fun k => v (enum_val k)] = \det (values (net_of v)).
  rewrite -[LHS](det_map_mx [rmorphism of meval (fun k => v (enum_val k))]); congr (\det _).
  apply/matrixP => s t; rewrite mxE [in LHS]mxE mxE.
  rewrite -[LHS]/([rmorphism of meval (fun k => v (enum_val k))] _) grid_output_image net_of_map.
  rewrite (@eq_net_of _ _ _ _ _ _ v) => [|u]; last by rewrite /= mevalXU enum_rankK.
  have E j : (fun h => map_mx [rmorphism of meval (fun k => v (enum_val k))]
      (map_mx C (token j h))) =1 grid_token K f (m := largest) j.
    by move=> h; apply/matrixP => q q'; rewrite !mxE /= mevalC.
  by rewrite (eq_grid_output _ _ _ (E _) (E _)).
exists (\det M); last by move=> v; rewrite ME unitmxE unitfE.
apply/eqP => /(congr1 (meval (fun k => (monomial_weights a0 f pair K : _ -> K) (enum_val k)))).
rewrite ME meval0 => E; have := values_unit.
by rewrite unitmxE unitfE E eqxx.
Qed.

End FullRank.

(* For every list of pairs of coordinates, one for each layer and head: for almost all weights the
   separation rank is at least the product of the monomial's exponents plus one. *)
Theorem monomial_lower_bound (K : fieldType) (L w H a d P : nat)
    (pair : 'I_L -> 'I_w -> 'I_w * 'I_w) : [char K] =i pred0 ->
  (0 < w <= H)%N -> (w <= d)%N -> (0 < a)%N ->
  (forall l c, ((pair l c).1 <= (pair l c).2)%N) ->
  (forall p, (P <= \prod_t (powers_of p pair t).+1)%N) ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall v : weight_name L H a d -> K, G.@[fun k => v (enum_val k)] != 0 ->
      forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r, (w <= #|A|)%N -> (w <= #|~: A|)%N ->
        sep_le (side_output false (net_of v) A i p) r -> (P <= r)%N.
Proof.
move=> char0 /andP[w0 wH] wd a_gt0 up HP; have c0 := char0_nat char0.
pose a0 := Ordinal a_gt0; pose h0 := Ordinal w0.
have /fin_all_exists2[G G0 GU] : forall q : 'I_d,
    exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
      forall v : weight_name L H a d -> K, G.@[fun k => v (enum_val k)] != 0 ->
        values (s2val (block h0 wd q)) h0 pair (net_of v) \in unitmx.
  move=> q; case: (block h0 wd q) => f fi _ /=; exact: (values_condition a0 h0 fi wH c0 up).
exists (\prod_q G q); first by apply/prodf_neq0.
move=> v; rewrite rmorph_prod => /prodf_neq0 nz n i q A r HA HB.
have := GU q v (nz q isT); case: (block h0 wd q) => f fi fp /= U; rewrite -fp => S.
exact: leq_trans (HP h0) (values_rank U HA HB S).
Qed.

(* --- shifts that spread the exponents evenly -------------------------------------------------- *)

(* Layers from 0 on, of L. The last m have the shifts 3^i and 2 3^i, the others 0 and l, as long as
   these give new moments of w = 3^m coordinates. *)
Definition shifts (m L l : nat) : nat * nat :=
  if (l < L - m)%N then (0%N, minn l (3 ^ m)./2) else (3 ^ (L - l.+1), 2 * 3 ^ (L - l.+1))%N.

Definition layers_new (m L : nat) : nat := minn (L - m) (3 ^ m)./2.+1.

Definition spread_product (m L : nat) : nat :=
  ((\prod_(1 <= l < (layers_new m L).+1) (3 ^ (L - m - l) + 1)) ^ 3 ^ m)%N.

Section Spreading.
Variables (L m w' : nat).
Local Notation w := w'.+1.
Hypotheses (wE : w = (3 ^ m)%N) (mL : (m <= L)%N).
Variable p : 'I_w.

Definition sorted_pair (t : 'I_w * 'I_w) : 'I_w * 'I_w :=
  if (t.1 <= t.2)%N then t else (t.2, t.1).

Definition spread_pair (l : 'I_L) (c : 'I_w) : 'I_w * 'I_w :=
  sorted_pair (c + inZp (shifts m L l).1, c + inZp (shifts m L l).2).

Lemma spread_pair_upper l c : ((spread_pair l c).1 <= (spread_pair l c).2)%N.
Proof.
rewrite /spread_pair /sorted_pair; case: ifP => //= /negbT; rewrite -ltnNge; exact: ltnW.
Qed.

Local Notation layers k := (drop k (enum 'I_L)).
Local Notation tot k := (total p (exponents spread_pair p (layers k))).

Lemma layers_cons k (kL : (k < L)%N) : layers k = Ordinal kL :: layers k.+1.
Proof.
rewrite (drop_nth (Ordinal kL)) ?size_enum_ord //; congr cons.
by apply/val_inj; rewrite /= nth_enum_ord.
Qed.

Lemma tot_step k c : (k < L)%N -> tot k c = (tot k.+1 c +
  (tot k.+1 (c - inZp (shifts m L k).1)%R + tot k.+1 (c - inZp (shifts m L k).2)%R))%N.
Proof.
move=> kL; rewrite (layers_cons kL) total_cons; congr (_ + _)%N.
set F := total _ _.
have one (x : 'I_w) : (\sum_b F b * (b + x == c)%R = F (c - x)%R)%N.
  rewrite (bigD1 (c - x)) //= subrK eqxx muln1 big1 ?addn0 // => b bc.
  by rewrite [b + x == c]eq_sym -subr_eq eq_sym (negbTE bc) muln0.
rewrite -!one -big_split /=; apply: eq_bigr => b _; rewrite -mulnDr; congr (_ * _)%N.
by rewrite /spread_pair /sorted_pair /=; case: ifP => //= _; rewrite addnC.
Qed.

Lemma sub_val (x : 'I_w) t : (0 < t < w)%N ->
  ((x - inZp t)%R : 'I_w) = (if x < t then x + w - t else x - t)%N :> nat.
Proof.
move=> /andP[t0 tw]; have xw := ltn_ord x.
rewrite /= [(t %% _)%N]modn_small // [((w - t) %% _)%N]modn_small; last by lia.
case: ltnP => xt; first by rewrite modn_small; lia.
rewrite (_ : (x + (w - t) = x - t + w)%N); last by lia.
by rewrite modnDr modn_small; lia.
Qed.

Lemma thirds (x : 'I_w) t : (0 < t)%N -> (3 * t <= w)%N ->
  ((x < t) + ((x - inZp t)%R < t) + ((x - inZp (2 * t)%N)%R < t) = (x < 3 * t))%N.
Proof.
move=> t0 tw; rewrite !sub_val; [|lia|lia]; have xw := ltn_ord x.
have no a b : (b <= a)%N -> (a < b)%N = false by rewrite leqNgt => /negbTE.
case: (ltnP x t) => xt.
  have -> : (x < 2 * t)%N by lia.
  have -> : (x + w - t < t)%N = false by apply: no; lia.
  have -> : (x + w - 2 * t < t)%N = false by apply: no; lia.
  by have -> : (x < 3 * t)%N by lia.
case: (ltnP x (2 * t)) => xt2.
  have -> : (x - t < t)%N by lia.
  have -> : (x + w - 2 * t < t)%N = false by apply: no; lia.
  by have -> : (x < 3 * t)%N by lia.
have -> : (x - t < t)%N = false by apply: no; lia.
by congr nat_of_bool; apply/idP/idP => ?; lia.
Qed.

(* The digits: after j of the last layers each of 3^j coordinates has its total 1. *)
Lemma tot_digits j c : (j <= m)%N -> tot (L - j) c = ((c - p)%R < 3 ^ j)%N :> nat.
Proof.
elim: j c => [|j IH] c jm.
  rewrite subn0 drop_oversize ?size_enum_ord // /total big1 // addn0 expn0 ltnS leqn0.
  by rewrite -subr_eq0.
have jL : (L - j.+1 < L)%N by lia.
rewrite tot_step // (_ : (L - j.+1).+1 = L - j)%N; last by lia.
rewrite /shifts ifF /=; last by lia.
rewrite (_ : L - (L - j.+1).+1 = j)%N; last by lia.
rewrite !IH ?(ltnW jm) // expnS.
have E y : c - y - p = c - p - y :> 'I_w by rewrite addrAC.
rewrite !E addnA thirds ?expn_gt0 //.
by rewrite wE -expnS leq_exp2l.
Qed.

(* Below them the totals are equal for all coordinates. *)
Lemma tot_even k c : (k <= L - m)%N -> tot (L - m - k) c = (3 ^ k)%N.
Proof.
elim: k c => [|k IH] c km; first by rewrite subn0 tot_digits // -wE ltn_ord.
have kL : (L - m - k.+1 < L)%N by lia.
have E : ((L - m - k.+1).+1 = L - m - k)%N by lia.
by rewrite tot_step // E !IH ?(ltnW km) // expnS; lia.
Qed.

Lemma spread_exponent (l : 'I_L) c : (l < L - m)%N ->
  (3 ^ (L - m - l.+1) <= powers_of p spread_pair (spread_pair l c))%N.
Proof.
move=> lm; rewrite /powers_of -[X in exponents _ _ X](cat_take_drop l).
rewrite (layers_cons (ltn_ord l)) (_ : Ordinal _ = l); last exact/val_inj.
apply: leq_trans (exponents_ge _ _ _ _ _ _).
have E : l.+1 = (L - m - (L - m - l.+1))%N by lia.
by rewrite [X in drop X _]E tot_even // leq_subr.
Qed.

Lemma sorted_pair_eq t u : sorted_pair t = sorted_pair u -> t = u \/ t = (u.2, u.1).
Proof.
case: t u => [a b] [c e]; rewrite /sorted_pair /=.
by case: ifP => _; case: ifP => _ [-> ->]; [left|right|right|left].
Qed.

Definition new_pair (x : 'I_(layers_new m L) * 'I_w) : 'I_w * 'I_w :=
  sorted_pair (x.2, x.2 + inZp x.1).

Lemma new_pair_inj : injective new_pair.
Proof.
have small (l : 'I_(layers_new m L)) : (l < w./2.+1)%N.
  by rewrite wE; apply: leq_trans (ltn_ord l) (geq_minr _ _).
have wo : (w./2.*2 < w)%N.
  have : odd w by rewrite wE oddX orbT.
  by rewrite -[X in (_ < X)%N](odd_double_half w) => ->; rewrite add1n.
move=> [l b] [k c] /sorted_pair_eq; case=> E0.
  have bc : b = c := congr1 fst E0; have E2 : b + inZp l = c + inZp k := congr1 snd E0.
  rewrite {}bc {b E0} in E2 *.
  have E : inZp l = inZp k :> 'I_w by apply: (@addrI _ c).
  have lk : l = k :> nat.
    have := congr1 (fun x : 'I_w => x : nat) E; rewrite /= !modn_small //.
      by have := small k; lia.
    by have := small l; lia.
  by rewrite (val_inj lk).
have bc : b = c + inZp k := congr1 fst E0; have E : b + inZp l = c := congr1 snd E0.
rewrite {}bc {b E0} in E *.
have : inZp k + inZp l = 0 :> 'I_w by apply: (@addrI _ c); rewrite addrA E addr0.
move=> /(congr1 (fun x : 'I_w => x : nat)); rewrite /= modnDm modn_small; last first.
  by have := small l; have := small k; lia.
move=> lk; have l0 : l = 0%N :> nat by lia.
have k0 : k = 0%N :> nat by lia.
have -> : l = k by apply: val_inj; rewrite /= l0 k0.
have -> : inZp k = 0 :> 'I_w by apply: val_inj; rewrite /= k0 mod0n.
by rewrite addr0.
Qed.

Lemma new_layer (x : 'I_(layers_new m L) * 'I_w) :
  (3 ^ (L - m - x.1.+1) <= powers_of p spread_pair (new_pair x))%N.
Proof.
have lm : (x.1 < L - m)%N by apply: leq_trans (ltn_ord x.1) (geq_minl _ _).
have lh : (x.1 < (3 ^ m)./2.+1)%N by apply: leq_trans (ltn_ord x.1) (geq_minr _ _).
have lL : (x.1 < L)%N by apply: leq_trans lm (leq_subr _ _).
have -> : new_pair x = spread_pair (Ordinal lL) x.2.
  rewrite /new_pair /spread_pair /shifts /= lm /= (minn_idPl _) //.
  by rewrite (_ : inZp 0 = 0) ?addr0 //; apply/val_inj; rewrite /= mod0n.
exact: spread_exponent.
Qed.

Lemma spread_exponents : (spread_product m L <= \prod_t (powers_of p spread_pair t).+1)%N.
Proof.
set e := powers_of p spread_pair; set K := layers_new m L.
apply: (@leq_trans (\prod_(x : 'I_K * 'I_w) (e (new_pair x)).+1)); last first.
  have u : uniq [seq new_pair x | x <- enum [finType of 'I_K * 'I_w]].
    by rewrite map_inj_uniq ?enum_uniq //; exact: new_pair_inj.
  apply: (@leq_trans (\prod_(t <- [seq new_pair x | x <- enum [finType of 'I_K * 'I_w]])
      (e t).+1)%N).
    by rewrite big_map big_enum.
  rewrite (big_uniq _ u) big_mkcond; apply: leq_prod => t _; by case: ifP.
apply: (@leq_trans (\prod_(x : 'I_K * 'I_w) (3 ^ (L - m - x.1.+1) + 1))); last first.
  by apply: leq_prod => x _; rewrite addn1 ltnS; apply: new_layer.
rewrite -(pair_bigA _ (fun (l : 'I_K) (_ : 'I_w) => (3 ^ (L - m - l.+1) + 1)%N)) /=.
rewrite (eq_bigr (fun l : 'I_K => ((3 ^ (L - m - l.+1) + 1) ^ w)%N)) => [|l _]; last first.
  by rewrite prod_nat_const card_ord.
rewrite /spread_product -wE -/K big_add1 /= big_mkord.
by rewrite (big_morph (fun x => x ^ w)%N (fun x y => expnMn x y w) (exp1n w)).
Qed.

End Spreading.

(* --- the product in numbers ------------------------------------------------------------------- *)

Definition spread_value (m L : N) : N :=
  let k := N.min (L - m) (3 ^ m / 2 + 1) in
  ((factors (N.to_nat k) (3 ^ (L - m - k))) ^ (3 ^ m))%num.

Lemma spread_valueE (m L : nat) :
  spread_value (bin_of_nat m) (bin_of_nat L) = bin_of_nat (spread_product m L).
Proof.
rewrite /spread_value !bin_of_natE (pow_bin 3).
have -> : (N.of_nat (3 ^ m) / 2)%num = N.of_nat (3 ^ m)./2.
  have := odd_double_half (3 ^ m); rewrite oddX orbT; set h := _./2 => E.
  by rewrite -E; symmetry; apply: (N.div_unique _ _ _ 1); lia.
set k := layers_new m L.
have -> : N.min (N.of_nat L - N.of_nat m) (N.of_nat (3 ^ m)./2 + 1) = N.of_nat k.
  by rewrite /k /layers_new; lia.
have -> : (N.of_nat L - N.of_nat m - N.of_nat k)%num = N.of_nat (L - m - k) by lia.
rewrite (pow_bin 3) Nnat.Nat2N.id factorsE pow_bin; congr (N.of_nat (_ ^ _)).
have kL : (k <= L - m)%N by apply: geq_minl.
rewrite /spread_product -/k big_add1 /= big_nat_rev add0n /= !big_mkord; apply: eq_bigr => l _.
by have := ltn_ord l => lk; rewrite -expnD; congr (3 ^ _ + 1)%N; lia.
Qed.

(* --- the lower bound -------------------------------------------------------------------------- *)

(* Claim: separation_rank/spread_lower_bound.
   Over every field of characteristic 0 there is a polynomial G in the weights, not zero, outside
   of whose zeros the following holds, whatever the number of tokens, the position and coordinate
   that are read and the two sides, as long as each side has 3^m tokens: if the output is a sum of
   r products of functions of the sides, then r is at least the product over l = 1, ...,
   min (L - m, (3^m + 1) / 2) of (3^(L - m - l) + 1)^(3^m). For every depth L >= m, width d, number
   of heads H with 3^m <= H and 3^m <= d, and width a of heads.
   Informal: that the zeros of G are a null set. *)
Theorem spread_lower_bound (K : fieldType) (L m H a d : nat) : [char K] =i pred0 ->
  (3 ^ m <= H)%N -> (3 ^ m <= d)%N -> (0 < a)%N -> (m <= L)%N ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall v : weight_name L H a d -> K, G.@[fun k => v (enum_val k)] != 0 ->
      forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r,
        (3 ^ m <= #|A|)%N -> (3 ^ m <= #|~: A|)%N ->
        sep_le (side_output false (net_of v) A i p) r ->
        (nat_of_bin (spread_value (bin_of_nat m) (bin_of_nat L)) <= r)%N.
Proof.
move=> char0 wH wd a_gt0 mL; rewrite spread_valueE bin_of_natK.
have wE : (3 ^ m).-1.+1 = (3 ^ m)%N by rewrite prednK ?expn_gt0.
rewrite -{1 2}wE in wH wd *.
have [G G0 GE] := @monomial_lower_bound K L (3 ^ m).-1.+1 H a d (spread_product m L)
  (@spread_pair L m (3 ^ m).-1) char0 wH wd a_gt0 (@spread_pair_upper L m _)
  (spread_exponents wE mL).
by exists G => // v nz n i p A r HA HB; apply: (GE v nz n i p A r); rewrite wE.
Qed.

(* Rational weights: four layers of three heads of width 1, three tokens on either side. *)
Example spread_value_4 : spread_value 1 4 = ((10 * 4) ^ 3)%num.
Proof. by []. Qed.

(* --- no bound that is linear in d L, from just past the threshold on -------------------------- *)

Lemma spread_gt m L : (m < L)%N -> (2 * (L - m) <= 3 ^ m + 1)%N ->
  (3 ^ (3 ^ m * 'C(L - m, 2)) < spread_product m L)%N.
Proof.
move=> mL half; have n0 : (0 < L - m)%N by lia.
have D : (L - m <= moment_count (L - m))%N by rewrite /moment_count geq_half_double -muln2; nia.
have new : layers_new m L = (L - m)%N.
  by apply/minn_idPl; have := odd_double_half (3 ^ m); rewrite oddX orbT; lia.
rewrite mulnC expnM /spread_product new ltn_exp2r ?expn_gt0 //.
have := @product_gt (L - m) (L - m); rewrite /product (minn_idPl D) subnn muln0 addn0.
exact.
Qed.

(* Claim: separation_rank/no_linear_bound_past_threshold.
   As above, with m < L and 2 (L - m) <= 3^m + 1. For every positive c of any ordered field with
   2 c d L <= 3^m (L - m) (L - m - 1) the logarithm of the rank r to base 3 exceeds c d L: there is
   a whole M, at least c d L, with 3^M < r. And for c = u / v, r^v > 3^(u d L).
   Informal: that the zeros of a polynomial are a null set. *)
Theorem no_linear_bound (K : fieldType) (L m H a d : nat) : [char K] =i pred0 ->
  (3 ^ m <= H)%N -> (3 ^ m <= d)%N -> (0 < a)%N -> (m < L)%N -> (2 * (L - m) <= 3 ^ m + 1)%N ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> K, G.@[fun k => w (enum_val k)] != 0 ->
      forall n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r,
        (3 ^ m <= #|A|)%N -> (3 ^ m <= #|~: A|)%N ->
        sep_le (side_output false (net_of w) A i p) r ->
        (forall (R : realFieldType) (c : R),
          2%:R * c * d%:R * L%:R <= (3 ^ m * ((L - m) * (L - m).-1))%:R ->
          exists2 M : nat, c * d%:R * L%:R <= M%:R & (3 ^ M < r)%N) /\
        (forall u v : nat, (0 < v)%N ->
          (2 * u * d * L <= v * (3 ^ m * ((L - m) * (L - m).-1)))%N ->
          let: (x, y) := linear_value (bin_of_nat u) (bin_of_nat v) (bin_of_nat d) (bin_of_nat L) in
          (3 ^ nat_of_bin x < r ^ nat_of_bin y)%N).
Proof.
move=> char0 wH wd a_gt0 mL half.
have [G G0 GE] := spread_lower_bound char0 wH wd a_gt0 (ltnW mL).
exists G => // w nz n i p A r HA HB S.
have := GE w nz n i p A r HA HB S; rewrite spread_valueE bin_of_natK => le.
have lt := leq_trans (spread_gt mL half) le.
have C2 : ('C(L - m, 2).*2 = (L - m) * (L - m).-1)%N.
  by rewrite bin2 -[RHS]odd_double_half oddM; case: (L - m)%N => //= l; rewrite andNb.
rewrite -C2; split=> [R c cL|u v v0 uv].
  exists (3 ^ m * 'C(L - m, 2))%N; last exact: lt.
  rewrite -(ler_pmul2r (_ : 0 < 2%:R)) ?ltr0n // -natrM muln2 doubleMr.
  by apply: le_trans cL; rewrite mulrC !mulrA lexx.
rewrite linear_valueE !bin_of_natK.
apply: (@leq_ltn_trans (3 ^ ((3 ^ m * 'C(L - m, 2)) * v))%N); last by rewrite expnM ltn_exp2r.
rewrite leq_exp2l // -(leq_pmul2r (_ : 0 < 2)%N) //.
by move: uv; rewrite -muln2; move: (3 ^ m)%N 'C(_, _) => x y; lia.
Qed.

(* Width 9, nine heads, six layers and c = 1: 2 c d L = 108 is 9 * 4 * 3. *)
Example no_linear_bound_9 : exists2 G : {mpoly rat[#|weight_name 6 9 1 9|]}, G != 0 &
  forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(9 + 9)) (p : 'I_9) r,
    sep_le (side_output false (net_of w) (first_half 9) i p) r -> (3 ^ 54 < r)%N.
Proof.
have [HA HB] := first_half_sides 9.
have [G G0 GE] := @no_linear_bound [fieldType of rat] 6 2 9 1 9 (char_num _) isT isT isT isT isT.
exists G => // w nz i p r S; have [_ pair] := GE w nz _ i p _ r HA HB S.
have : (3 ^ 54 < r ^ 1)%N by exact: pair 1%N 1%N isT isT.
by rewrite expn1.
Qed.
