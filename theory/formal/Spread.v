(* Weights of 0 and 1 under which each inner coordinate of each head multiplies a coordinate by a
   moment of its own, so that the output is one monomial in the moments, and shifts that spread its
   exponents evenly: the separation rank of almost all weights of 3^m heads of width 2^k, as in
   theory/separation_rank/monomial_net.py. No softmax, all positions attend. The weights of 0 and 1
   serve a net without residual connections; Residual.v carries its bounds to the net with them.

   The coordinates (q, c) make up blocks, one for each inner coordinate q of a head; c is a head. In
   layer l inner coordinate q of head c reads coordinate (q, c) of the query token, and as value and
   key of the other tokens the coordinates of the heads pair l c in block perm l q. Each token of
   the grid lies in one block, so that all moments between blocks vanish. The objects stand in
   LinearAttention.v, Degree.v and SeparationRank.v; the grid of tokens of one block, and why
   independent functions give a matrix of full rank, in Refutation.v. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From mathcomp Require Import mpoly.
From Depthlaw Require Import AlmostAll LinearAttention Degree SeparationRank Residual Refutation.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* A coordinate: its block and its head. A moment: its block and the heads of value and key. *)
Local Notation place b w := ('I_b * 'I_w)%type.
Local Notation moment_name b w := ('I_b * ('I_w * 'I_w))%type.

Definition value_end b w (t : moment_name b w) : place b w := (t.1, t.2.1).
Definition key_end b w (t : moment_name b w) : place b w := (t.1, t.2.2).

(* --- the exponents ---------------------------------------------------------------------------- *)

Section Exponents.
Variables (I : Type) (w b : nat).
Variables (perm : I -> 'I_b -> 'I_b) (pair : I -> 'I_w -> 'I_w * 'I_w) (p : place b w).

(* The moment by which layer l multiplies a coordinate. *)
Definition pick (l : I) (x : place b w) : moment_name b w := (perm l x.1, pair l x.2).

(* How often coordinate x divides x_p times the monomial with exponents e. *)
Definition total (e : moment_name b w -> nat) (x : place b w) : nat :=
  ((x == p) + \sum_t e t * ((value_end t == x) + (key_end t == x)))%N.

(* The exponents of the moments in the output, for layers from first to last. *)
Fixpoint exponents (s : seq I) (t : moment_name b w) : nat :=
  if s is l :: rest then
    (exponents rest t + \sum_x total (exponents rest) x * (pick l x == t))%N
  else 0%N.

Lemma total_cons l s x : total (exponents (l :: s)) x =
  (total (exponents s) x + \sum_y total (exponents s) y *
    ((value_end (pick l y) == x) + (key_end (pick l y) == x)))%N.
Proof.
rewrite {1}/total /= (eq_bigr (fun t =>
  (exponents s t * ((value_end t == x) + (key_end t == x)) + \sum_y total (exponents s) y *
    (pick l y == t) * ((value_end t == x) + (key_end t == x)))%N)); last first.
  by move=> t _; rewrite mulnDl big_distrl.
rewrite big_split /= addnA; congr (_ + _)%N.
rewrite exchange_big /=; apply: eq_bigr => y _.
rewrite (bigD1 (pick l y)) //= big1 => [|t ty]; last by rewrite eq_sym (negbTE ty) muln0 mul0n.
by rewrite eqxx muln1 addn0.
Qed.

(* Each layer adds its totals to its own moments; later layers take nothing away. *)
Lemma exponents_ge s1 l s2 x :
  (total (exponents s2) x <= exponents (s1 ++ l :: s2) (pick l x))%N.
Proof.
elim: s1 => [|l' s1 IH] /=; last by apply: leq_trans IH (leq_addr _ _).
apply: leq_trans (leq_addl _ _); rewrite (bigD1 x) //= eqxx muln1; exact: leq_addr.
Qed.

End Exponents.

(* --- the weights and their output ------------------------------------------------------------- *)

Lemma sum_insub (V : zmodType) m n (F : 'I_m -> V) : (m <= n)%N ->
  \sum_(i < n) (if insub (val i) is Some c then F c else 0) = \sum_c F c.
Proof.
move=> mn; pose G (i : nat) := if insub i is Some c then F c else 0.
transitivity (\sum_(c < m) G c); last by apply: eq_bigr => c _; rewrite /G valK.
rewrite (big_ord_widen _ G mn) [RHS]big_mkcond; apply: eq_bigr => i _.
by case: ifP => // im; rewrite insubF.
Qed.

Section Monomial.
Variables (L w b H a d : nat) (f : place b w -> 'I_d).
Variables (perm : 'I_L -> 'I_b -> 'I_b) (pair : 'I_L -> 'I_w -> 'I_w * 'I_w).
Hypotheses (f_inj : injective f) (wH : (w <= H)%N) (ba : (b <= a)%N).
Hypothesis perm_inj : forall l, injective (perm l).
Local Notation pick := (pick perm pair).

(* Inner coordinate e of head c of layer l: query and output pick coordinate (e, c), value and key
   those of its moment. The heads from w on and the inner coordinates from b on are zero. *)
Definition monomial_weights (R : comRingType) (t : weight_name L H a d) : R :=
  let: (l, h, s, k, q) := t in
  if insub (val h) is Some c then
    if insub (val k) is Some e then
      (q == f (if s == inord 1 then key_end (pick l (e, c)) else
        if s == inord 2 then value_end (pick l (e, c)) else (e, c)))%:R
    else 0
  else 0.

Variable R : comRingType.
Local Notation weights := (monomial_weights R).
Local Notation moment M t := (M (f (value_end t)) (f (key_end t))).

(* No moments between blocks. *)
Definition apart (M : 'M[R]_d) : Prop := forall x y, x.1 != y.1 -> M (f x) (f y) = 0.

Definition diagonal (M : 'M[R]_d) l : 'M[R]_d :=
  \sum_x moment M (pick l x) *: delta_mx (f x) (f x).

(* Row e of a head's matrix picks coordinate g e. *)
Definition picks (g : 'I_b -> 'I_d) : 'M[R]_(a, d) :=
  \matrix_(k, q) (if insub (val k) is Some e then (q == g e)%:R else 0).

Lemma picks_mul g g' : (picks g)^T *m picks g' = \sum_e delta_mx (g e) (g' e).
Proof.
apply/matrixP => q q'; rewrite mxE summxE.
rewrite -(sum_insub (fun e => delta_mx (g e) (g' e) q q') ba); apply: eq_bigr => k _.
rewrite !mxE; case: insub => [e|]; last by rewrite mul0r.
by rewrite mxE -natrM mulnb.
Qed.

Lemma delta_between (M : 'M[R]_d) i j k l :
  delta_mx i j *m M *m delta_mx k l = M j k *: delta_mx i l :> 'M[R]_d.
Proof.
apply/matrixP => q q'; rewrite !mxE (bigD1 k) //= big1 => [|r rk]; last first.
  by rewrite !mxE (negbTE rk) mulr0.
rewrite !mxE eqxx addr0 (bigD1 j) //= big1 => [|r rj]; last first.
  by rewrite !mxE (negbTE rj) andbF mul0r.
by rewrite !mxE eqxx andbT addr0; case: (q == i); case: (q' == l);
  rewrite ?mul1r ?mulr1 ?mul0r ?mulr0.
Qed.

Lemma monomial_layer l (M : 'M[R]_d) : apart M ->
  layer_matrix (layer_of weights l) M = diagonal M l.
Proof.
move=> M0.
have ne (s t : nat) : (s < 4)%N -> (t < 4)%N -> s != t -> (inord s == inord t :> 'I_4) = false.
  by move=> s4 t4 st; rewrite -val_eqE /= !inordK //; apply/negbTE.
rewrite /layer_matrix big_map big_enum /=.
pose F c : 'M[R]_d := \sum_e moment M (pick l (e, c)) *: delta_mx (f (e, c)) (f (e, c)).
have head h : (\matrix_(q, k) weights (l, h, inord 3, k, q)) *m
    (\matrix_(k, q) weights (l, h, inord 2, k, q)) *m M *m
    (\matrix_(k, q) weights (l, h, inord 1, k, q))^T *m
    (\matrix_(k, q) weights (l, h, inord 0, k, q)) =
    if insub (val h) is Some c then F c else 0.
  case E: (insub (val h)) => [c|]; last first.
    have -> : \matrix_(q, k) weights (l, h, inord 3, k, q) = 0 :> 'M[R]_(d, a).
      by apply/matrixP => q k; rewrite !mxE /= E.
    by rewrite !mul0mx.
  have -> : \matrix_(q, k) weights (l, h, inord 3, k, q) = (picks (fun e => f (e, c)))^T.
    by apply/matrixP => q k; rewrite !mxE /= E !ne.
  have -> : \matrix_(k, q) weights (l, h, inord 2, k, q) =
      picks (fun e => f (value_end (pick l (e, c)))).
    by apply/matrixP => k q; rewrite !mxE /= E ne // eqxx.
  have -> : \matrix_(k, q) weights (l, h, inord 1, k, q) =
      picks (fun e => f (key_end (pick l (e, c)))).
    by apply/matrixP => k q; rewrite !mxE /= E eqxx.
  have -> : \matrix_(k, q) weights (l, h, inord 0, k, q) = picks (fun e => f (e, c)).
    by apply/matrixP => k q; rewrite !mxE /= E !ne.
  rewrite picks_mul -mulmxA picks_mul !mulmx_suml; apply: eq_bigr => e _.
  rewrite mulmx_sumr (bigD1 e) //= big1 => [|e' ee]; first by rewrite addr0 delta_between.
  by rewrite delta_between M0 ?scale0r //= (inj_eq (@perm_inj l)) eq_sym.
transitivity (\sum_(h < H) (if insub (val h) is Some c then F c else 0)).
  by apply: eq_bigr => h _; apply: head.
by rewrite (sum_insub F wH) /F exchange_big pair_bigA; apply: eq_bigr => -[e c].
Qed.

Lemma diagonal_row n (M : 'M[R]_d) l (N : 'M[R]_(d, n)) x q :
  (diagonal M l *m N) (f x) q = moment M (pick l x) * N (f x) q.
Proof.
rewrite /diagonal mulmx_suml summxE (bigD1 x) //= big1 => [|y yx].
  rewrite addr0 -scalemxAl mxE; congr (_ * _).
  rewrite mxE (bigD1 (f x)) //= big1 => [|r rx]; last by rewrite mxE (negbTE rx) andbF mul0r.
  by rewrite mxE !eqxx mul1r addr0.
rewrite -scalemxAl mxE mxE big1 ?mulr0 // => r _.
by rewrite mxE (inj_eq f_inj) [x == y]eq_sym (negbTE yx) mul0r.
Qed.

Lemma diagonal_tr (M : 'M[R]_d) l : (diagonal M l)^T = diagonal M l.
Proof.
by rewrite /diagonal raddf_sum; apply: eq_bigr => x _; rewrite /= linearZ /= trmx_delta.
Qed.

Lemma diagonal_entry (M : 'M[R]_d) l x y : (diagonal M l *m M *m diagonal M l) (f x) (f y) =
  moment M (pick l x) * moment M (pick l y) * M (f x) (f y).
Proof.
rewrite -mulmxA diagonal_row -[M *m _]trmxK mxE trmx_mul diagonal_tr diagonal_row.
by rewrite mxE mulrA.
Qed.

Lemma prod_total (g : place b w -> R) (e : moment_name b w -> nat) p :
  g p * \prod_t (g (value_end t) * g (key_end t)) ^+ e t = \prod_x g x ^+ total p e x.
Proof.
have one (y : place b w) k : g y ^+ k = \prod_x g x ^+ (k * (y == x)).
  rewrite (bigD1 y) //= big1 => [|x xy]; last by rewrite eq_sym (negbTE xy) muln0.
  by rewrite eqxx muln1 mulr1.
rewrite -[g p]expr1 (one p 1%N) (eq_bigr (fun t =>
    \prod_x g x ^+ (e t * ((value_end t == x) + (key_end t == x))))) => [|t _].
  rewrite exchange_big -big_split /=; apply: eq_bigr => x _.
  by rewrite prodrXr -exprD /total mul1n [p == x]eq_sym.
rewrite exprMn !one -big_split /=; apply: eq_bigr => x _.
by rewrite -exprD mulnDr.
Qed.

(* Coordinate f p of the output is that of the token times powers of moments. *)
Lemma monomial_value (s : seq 'I_L) (M : 'M[R]_d) (x : 'cV[R]_d) p : apart M ->
  (net_matrix (map (layer_of weights) s) M *m x) (f p) 0 =
  x (f p) 0 * \prod_t moment M t ^+ exponents perm pair p s t.
Proof.
elim: s M x => [|l s IH] M x M0 /=.
  by rewrite mul1mx big1 ?mulr1.
rewrite -(mulmxA (net_matrix _ _)) monomial_layer // diagonal_tr IH; last first.
  by move=> y z yz; rewrite diagonal_entry (M0 _ _ yz) mulr0.
rewrite diagonal_row.
pose g y := moment M (pick l y).
rewrite (eq_bigr (fun t => (g (value_end t) * g (key_end t)) ^+ exponents perm pair p s t *
  moment M t ^+ exponents perm pair p s t)) => [|t _]; last by rewrite diagonal_entry exprMn.
rewrite big_split /= mulrA -/(g p) [g p * _]mulrC -[x _ _ * _ * _]mulrA prod_total -mulrA.
congr (_ * _).
rewrite [in RHS](eq_bigr (fun t => moment M t ^+ exponents perm pair p s t * \prod_y
  moment M t ^+ (total p (exponents perm pair p s) y * (pick l y == t)))) => [|t _]; last first.
  by rewrite exprD prodrXr.
rewrite [in RHS]big_split /= mulrC; congr (_ * _).
rewrite [in RHS]exchange_big /=; apply: eq_bigr => y _.
rewrite [in RHS](bigD1 (pick l y)) //= [X in _ * X]big1 => [|t ty].
  by rewrite eqxx muln1 mulr1.
by rewrite eq_sym (negbTE ty) muln0.
Qed.

End Monomial.

(* --- a grid of tokens in each block ----------------------------------------------------------- *)

Section BlocksGrid.
Variables (K : fieldType) (w b d m : nat) (f : place b w -> 'I_d) (e : moment_name b w -> nat).
Local Notation point := {ffun moment_name b w -> 'I_m.+1}.
Hypothesis f_inj : injective f.
Hypothesis e_upper : forall q (i j : 'I_w), (j < i)%N -> e (q, (i, j)) = 0%N.

Definition in_block (j : point) (q : 'I_b) : {ffun 'I_w * 'I_w -> 'I_m.+1} := [ffun t => j (q, t)].

(* The token of (q, c) is token c of the grid of block q, and zero outside of block q. *)
Definition block_grid (j : point) (q : 'I_b) : 'I_w -> 'cV[K]_d :=
  grid_token K (fun c => f (q, c)) (in_block j q).

Definition blocks_token (j : point) (h : 'I_#|(place b w : finType)|) : 'cV[K]_d :=
  block_grid j (enum_val h).1 (enum_val h).2.

Definition blocks_moment (t : moment_name b w) (j : point) : nat :=
  grid_moment t.2 (in_block j t.1).

Definition blocks_rank (t : moment_name b w) : nat := (grid_rank t.2 * b + t.1)%N.

Lemma block_inj q : injective (fun c => f (q, c)).
Proof. by move=> c c' /f_inj []. Qed.

Lemma block_grid0 j q c x : q != x.1 -> block_grid j q c (f x) 0 = 0.
Proof.
move=> qx; rewrite mxE big_pred0 // => c'; rewrite (inj_eq f_inj).
by apply: contraNF qx => /eqP <-.
Qed.

Lemma blocks_tokenE j x :
  blocks_token j (enum_rank x) (f x) 0 = (entry (in_block j x.1) x.2 x.2)%:R.
Proof.
rewrite /blocks_token enum_rankK -(grid_tokenE K (@block_inj x.1)).
by rewrite -surjective_pairing.
Qed.

Lemma blocks_moments j : moments (blocks_token j) = \sum_q moments (block_grid j q).
Proof.
rewrite /moments -(big_enum_val (fun x : place b w =>
  block_grid j x.1 x.2 *m (block_grid j x.1 x.2)^T)) /=.
by rewrite [RHS]pair_bigA.
Qed.

Lemma block_moments0 j q x y : (q != x.1) || (q != y.1) ->
  moments (block_grid j q) (f x) (f y) = 0.
Proof.
move=> qxy; rewrite /moments summxE big1 // => c _; rewrite mxE big_ord1 [X in _ * X]mxE.
by case/orP: qxy => /block_grid0 ->; rewrite ?mul0r ?mulr0.
Qed.

Lemma blocks_momentE j t : moments (blocks_token j) (f (value_end t)) (f (key_end t)) =
  (blocks_moment t j)%:R.
Proof.
rewrite blocks_moments summxE (bigD1 t.1) //= big1 => [|q qt]; last first.
  by rewrite block_moments0 //= qt.
rewrite addr0 (grid_momentE K (@block_inj t.1)) /blocks_moment.
by rewrite -surjective_pairing.
Qed.

Lemma blocks_apart j : apart f (moments (blocks_token j)).
Proof.
move=> x y xy; rewrite blocks_moments summxE big1 // => q _; apply: block_moments0.
by rewrite -negb_and; apply: contra xy => /andP[/eqP <-].
Qed.

Lemma blocks_rank_inj : injective blocks_rank.
Proof.
move=> [q t] [q' t']; rewrite /blocks_rank /= => E.
have E1 := congr1 (divn^~ b) E; have E2 := congr1 (modn^~ b) E; move: E1 E2 => /=.
have b0 : (0 < b)%N by apply: leq_ltn_trans (ltn_ord q).
rewrite !divnMDl // !modnMDl !divn_small // !addn0 !modn_small // => /grid_rank_inj -> E2.
by congr pair; apply/val_inj.
Qed.

Lemma blocks_low t (j j' : point) :
  (forall t', (blocks_rank t' <= blocks_rank t)%N -> j t' = j' t') ->
  blocks_moment t j = blocks_moment t j'.
Proof.
move=> E; apply: grid_low => u ut; rewrite !ffunE; apply: E.
by rewrite /blocks_rank /= leq_add2r leq_mul2r ut orbT.
Qed.

Lemma blocks_inj t (j : point) (r r' : 'I_m.+1) : j \in box e -> (r <= e t)%N -> (r' <= e t)%N ->
  blocks_moment t (set_at j t r) = blocks_moment t (set_at j t r') -> r = r'.
Proof.
case: t => q t /boxP jb re re'.
have E s : in_block (set_at j (q, t) s) q = set_at (in_block j q) t s.
  by apply/ffunP => u; rewrite !ffunE xpair_eqE eqxx.
rewrite /blocks_moment /= !E; apply: (@grid_inj _ _ (fun u => e (q, u))) => //.
  by move=> i k; apply: e_upper.
by apply/boxP => u; rewrite ffunE.
Qed.

End BlocksGrid.

(* --- values on the grid form a matrix of full rank -------------------------------------------- *)

Section FullRank.
Variables (K : fieldType) (L w b H a d : nat) (f : place b w -> 'I_d) (p : place b w).
Variables (perm : 'I_L -> 'I_b -> 'I_b) (pair : 'I_L -> 'I_w -> 'I_w * 'I_w).
Hypotheses (f_inj : injective f) (wH : (w <= H)%N) (ba : (b <= a)%N).
Hypothesis char0 : forall k, (0 < k)%N -> k%:R != 0 :> K.
Hypothesis perm_inj : forall l, injective (perm l).
Hypothesis pair_upper : forall l c, ((pair l c).1 <= (pair l c).2)%N.

Definition powers_of := exponents perm pair p (enum 'I_L).
Definition largest := (\max_t powers_of t)%N.
Local Notation box := (@box (moment_name b w : finType) largest powers_of).
Local Notation point := {ffun moment_name b w -> 'I_largest.+1}.
Local Notation token j := (blocks_token K f j).
Local Notation form t j := ((blocks_moment t j)%:R : K).
Local Notation net := (net_of (monomial_weights f perm pair K : weight_name L H a d -> K)).
Local Notation h0 := (enum_rank p).

Lemma powers_upper q (i j : 'I_w) : (j < i)%N -> powers_of (q, (i, j)) = 0%N.
Proof.
move=> ji; rewrite /powers_of; elim: (enum _) => //= l s ->; rewrite big1 // => x _.
case: eqP => [[_ E]|]; rewrite ?muln0 //.
by have := pair_upper l x.2; rewrite E /= leqNgt ji.
Qed.

Lemma powers_largest t : (powers_of t <= largest)%N.
Proof. exact: (leq_bigmax t). Qed.

Definition values (layers : seq (seq (head K d a))) : 'M[K]_#|box| :=
  output_matrix (fun s => token (enum_val s)) h0 (f p) layers.

Lemma values_unit : values net \in unitmx.
Proof.
set V := values _; suff -> : V = \matrix_(s, t) ((token (enum_val s) h0) (f p) 0 *
    \prod_u (form u (enum_val s) + form u (enum_val t)) ^+ powers_of u).
  apply: (products_unit (phi := @blocks_moment w b largest) (lead := fun j => token j h0 (f p) 0)
    char0 powers_largest (@blocks_rank_inj w b)) => [t j j'|t j q q'|j].
  - exact: blocks_low.
  - by apply: blocks_inj; exact: powers_upper.
  by rewrite (blocks_tokenE _ f_inj) /entry ltnn eqxx char0.
apply/matrixP => s t; rewrite mxE [RHS]mxE /grid_output monomial_value //.
  by congr (_ * _); apply: eq_bigr => u _; rewrite mxE !(blocks_momentE _ f_inj).
by move=> x y xy; rewrite mxE !blocks_apart ?addr0.
Qed.

Lemma card_values : #|box| = (\prod_t (powers_of t).+1)%N.
Proof. by apply: card_box; apply: powers_largest. Qed.

Lemma values_rank n (layers : seq (seq (head K d a))) (A : {set 'I_n}) i r :
  values layers \in unitmx -> (w * b <= #|A|)%N -> (w * b <= #|~: A|)%N ->
  sep_le (side_output false layers A i (f p)) r -> (\prod_t (powers_of t).+1 <= r)%N.
Proof.
have -> : (w * b)%N = #|(place b w : finType)| by rewrite card_prod !card_ord mulnC.
by rewrite -card_values => U HA HB; apply: output_rank U HA HB.
Qed.

End FullRank.

(* For every choice of a pair of heads for each layer and head, and of a permutation of the blocks
   for each layer: for almost all weights, with or without residual connections, the separation rank
   is at least the product of the monomial's exponents plus one. *)
Theorem monomial_lower_bound (K : fieldType) (L w b H a d P : nat)
    (perm : 'I_L -> 'I_b -> 'I_b) (pair : 'I_L -> 'I_w -> 'I_w * 'I_w) : [char K] =i pred0 ->
  (0 < w <= H)%N -> (0 < b <= a)%N -> (w * b <= d)%N ->
  (forall l, injective (perm l)) -> (forall l c, ((pair l c).1 <= (pair l c).2)%N) ->
  (forall p, (P <= \prod_t (powers_of p perm pair t).+1)%N) ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall v : weight_name L H a d -> K, G.@[fun k => v (enum_val k)] != 0 ->
      forall residual n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r,
        (w * b <= #|A|)%N -> (w * b <= #|~: A|)%N ->
        sep_le (side_output residual (net_of v) A i p) r -> (P <= r)%N.
Proof.
move=> char0 /andP[w0 wH] /andP[b0 ba] wbd perm_inj up HP; have c0 := char0_nat char0.
pose x0 : place b w := (Ordinal b0, Ordinal w0); pose h0 := enum_rank x0.
have xd : (#|(place b w : finType)| <= d)%N by rewrite card_prod !card_ord mulnC.
pose f q := s2val (block h0 xd q) \o enum_rank.
have fi q : injective (f q).
  by rewrite /f; case: (block h0 xd q) => g gi _ /=; apply: inj_comp gi enum_rank_inj.
have fx q : f q x0 = q by rewrite /f /=; case: (block h0 xd q).
have /fin_all_exists2[G G0 GU] : forall q : 'I_d,
    exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
      forall v : weight_name L H a d -> K, G.@[fun k => v (enum_val k)] != 0 ->
        values (f q) x0 perm pair (net_of v) \in unitmx.
  move=> q; apply: output_condition.
  exact: (values_unit x0 (fi q) wH ba c0 perm_inj up).
exists (\prod_q G q); first by apply/prodf_neq0.
move=> v; rewrite rmorph_prod => /prodf_neq0 nz residual n i q A r HA HB S.
have {S} : sep_le (side_output false (net_of v) A i q) r.
  by case: residual S => // S; apply: (residual_rank char0 S).
rewrite -{1}(fx q) => S; exact: leq_trans (HP x0) (values_rank (GU q v (nz q isT)) HA HB S).
Qed.

(* --- shifts that spread the exponents evenly -------------------------------------------------- *)

(* By how much layer l, from 0 on, of L shifts the blocks; and value and key. The last m shift value
   and key by 3^i and 2 3^i; the k before them shift the blocks by 2^i; all others shift value and
   key by 0 and l, as long as these give new moments of w = 3^m heads. *)
Definition shifts (m k L l : nat) : nat * (nat * nat) :=
  if (l < L - m - k)%N then (0, (0, minn l (3 ^ m)./2))%N
  else if (l < L - m)%N then (2 ^ (L - m - l.+1), (0, 0))%N
  else (0, (3 ^ (L - l.+1), 2 * 3 ^ (L - l.+1)))%N.

Definition layers_new (m k L : nat) : nat := minn (L - m - k) (3 ^ m)./2.+1.

Definition spread_product (m k L : nat) : nat :=
  ((\prod_(1 <= l < (layers_new m k L).+1) (3 ^ (L - m - k - l) + 1)) ^ (3 ^ m * 2 ^ k))%N.

Lemma inZp0 n : inZp 0 = 0 :> 'I_n.+1.
Proof. by apply/val_inj; rewrite /= mod0n. Qed.

Lemma sub_val n (x : 'I_n.+1) t : (0 < t < n.+1)%N ->
  ((x - inZp t)%R : 'I_n.+1) = (if x < t then x + n.+1 - t else x - t)%N :> nat.
Proof.
move=> /andP[t0 tn]; have xn := ltn_ord x.
rewrite /= [(t %% _)%N]modn_small // [((n.+1 - t) %% _)%N]modn_small; last by lia.
case: ltnP => xt; first by rewrite modn_small; lia.
rewrite (_ : (x + (n.+1 - t) = x - t + n.+1)%N); last by lia.
by rewrite modnDr modn_small; lia.
Qed.

Lemma thirds n (x : 'I_n.+1) t : (0 < t)%N -> (3 * t <= n.+1)%N ->
  ((x < t) + ((x - inZp t)%R < t) + ((x - inZp (2 * t)%N)%R < t) = (x < 3 * t))%N.
Proof.
move=> t0 tn; rewrite !sub_val; [|lia|lia]; have xn := ltn_ord x.
have no i j : (j <= i)%N -> (i < j)%N = false by rewrite leqNgt => /negbTE.
case: (ltnP x t) => xt.
  have -> : (x < 2 * t)%N by lia.
  have -> : (x + n.+1 - t < t)%N = false by apply: no; lia.
  have -> : (x + n.+1 - 2 * t < t)%N = false by apply: no; lia.
  by have -> : (x < 3 * t)%N by lia.
case: (ltnP x (2 * t)) => xt2.
  have -> : (x - t < t)%N by lia.
  have -> : (x + n.+1 - 2 * t < t)%N = false by apply: no; lia.
  by have -> : (x < 3 * t)%N by lia.
have -> : (x - t < t)%N = false by apply: no; lia.
by congr nat_of_bool; apply/idP/idP => ?; lia.
Qed.

Section Spreading.
Variables (L m k w' b' : nat).
Local Notation w := w'.+1.
Local Notation b := b'.+1.
Hypotheses (wE : w = (3 ^ m)%N) (bE : b = (2 ^ k)%N) (mkL : (m + k <= L)%N).
Variable p : place b w.
Local Notation shift := (shifts m k L).
Local Notation rest := (L - m - k)%N.

Definition sorted_pair (t : 'I_w * 'I_w) : 'I_w * 'I_w :=
  if (t.1 <= t.2)%N then t else (t.2, t.1).

Definition spread_pair (l : 'I_L) (c : 'I_w) : 'I_w * 'I_w :=
  sorted_pair (c + inZp (shift l).2.1, c + inZp (shift l).2.2).

Definition spread_perm (l : 'I_L) (q : 'I_b) : 'I_b := q + inZp (shift l).1.

Lemma spread_pair_upper l c : ((spread_pair l c).1 <= (spread_pair l c).2)%N.
Proof.
rewrite /spread_pair /sorted_pair; case: ifP => //= /negbT; rewrite -ltnNge; exact: ltnW.
Qed.

Lemma spread_perm_inj l : injective (spread_perm l).
Proof. exact: addIr. Qed.

Local Notation layers k := (drop k (enum 'I_L)).
Local Notation tot k := (total p (exponents spread_perm spread_pair p (layers k))).

Lemma layers_cons l (lL : (l < L)%N) : layers l = Ordinal lL :: layers l.+1.
Proof.
rewrite (drop_nth (Ordinal lL)) ?size_enum_ord //; congr cons.
by apply/val_inj; rewrite /= nth_enum_ord.
Qed.

Lemma tot_step l x : (l < L)%N -> tot l x = (tot l.+1 x +
  (tot l.+1 (x.1 - inZp (shift l).1, x.2 - inZp (shift l).2.1)%R +
   tot l.+1 (x.1 - inZp (shift l).1, x.2 - inZp (shift l).2.2)%R))%N.
Proof.
move=> lL; rewrite (layers_cons lL) total_cons; congr (_ + _)%N.
set F := total _ _.
have one (u : 'I_b) (v : 'I_w) :
    (\sum_y F y * ((y.1 + u, y.2 + v)%R == x) = F (x.1 - u, x.2 - v)%R)%N.
  rewrite (bigD1 (x.1 - u, x.2 - v)) //= !subrK -surjective_pairing eqxx muln1 big1 ?addn0 //.
  move=> y yx; case: eqP => [E|]; rewrite ?muln0 //.
  by case/eqP: yx; rewrite -E /= !addrK -surjective_pairing.
rewrite -!one -big_split /=; apply: eq_bigr => y _; rewrite -mulnDr; congr (_ * _)%N.
rewrite /pick /value_end /key_end /spread_pair /sorted_pair /=.
by case: ifP => //= _; rewrite addnC.
Qed.

(* Counted from the last layer on. The digits: after j of the last layers the totals are 1 at 3^j
   coordinates of one block, and 0 at all others. *)
Lemma tot_digits j x : (j <= m)%N ->
  tot (L - j) x = ((x.1 == p.1) && ((x.2 - p.2)%R < 3 ^ j)%N) :> nat.
Proof.
elim: j x => [|j IH] x jm.
  rewrite subn0 drop_oversize ?size_enum_ord // /total big1 // addn0 expn0 ltnS leqn0.
  by rewrite -[x == p]/((x.1 == p.1) && (x.2 == p.2)) -[x.2 == p.2]subr_eq0.
have jL : (L - j.+1 < L)%N by lia.
rewrite tot_step // (_ : (L - j.+1).+1 = L - j)%N; last by lia.
rewrite /shifts !ifF /=; [|lia|lia].
rewrite (_ : L - (L - j.+1).+1 = j)%N; last by lia.
have {}IH q c : tot (L - j) (q, c) = ((q == p.1) && ((c - p.2)%R < 3 ^ j)%N) :> nat.
  exact: IH (q, c) (ltnW jm).
rewrite [x in tot _ x]surjective_pairing !IH inZp0 subr0 expnS; case: (_ == _); rewrite // !andTb.
have E y : x.2 - y - p.2 = x.2 - p.2 - y :> 'I_w by rewrite addrAC.
rewrite !E addnA thirds ?expn_gt0 //.
by rewrite wE -expnS leq_exp2l.
Qed.

(* The blocks: after j of the layers before those, no total is 0 in 2^j of the blocks. *)
Lemma tot_blocks j x : (j <= k)%N -> ((x.1 - p.1)%R < 2 ^ j)%N -> (0 < tot (L - m - j) x)%N.
Proof.
elim: j x => [|j IH] x jk xp.
  move: xp; rewrite expn0 ltnS leqn0 subn0 tot_digits // -wE ltn_ord andbT => xp.
  by rewrite lt0b -subr_eq0; exact: xp.
have jL : (L - m - j.+1 < L)%N by lia.
rewrite tot_step // (_ : (L - m - j.+1).+1 = L - m - j)%N; last by lia.
rewrite /shifts ifF ?ifT /=; [|lia|lia].
rewrite (_ : L - m - (L - m - j.+1).+1 = j)%N; last by lia.
have [lt|ge] := ltnP (x.1 - p.1)%R (2 ^ j).
  by rewrite ltn_addr // IH // ltnW.
rewrite ltn_addl // ltn_addr // IH ?(ltnW jk) // -[(_, _).1]/(x.1 - inZp (2 ^ j)) addrAC.
have jb : (2 ^ j < b)%N by rewrite bE ltn_exp2l.
rewrite sub_val ?expn_gt0 // ifF; last by rewrite ltnNge ge.
by move: xp ge; rewrite expnS; move: (2 ^ j)%N => e; lia.
Qed.

(* After j of the layers before those the totals of all coordinates are at least 3^j. *)
Lemma tot_even j x : (j <= rest)%N -> (3 ^ j <= tot (rest - j) x)%N.
Proof.
elim: j x => [|j IH] x jm; first by rewrite subn0 tot_blocks // -bE ltn_ord.
have jL : (rest - j.+1 < L)%N by lia.
have E : ((rest - j.+1).+1 = rest - j)%N by lia.
rewrite tot_step // E expnS.
have h y := IH y (ltnW jm).
set u := tot _ x; set v := tot _ _; set z := tot _ _.
have := h x; rewrite -/u.
have : (3 ^ j <= v)%N by apply: h.
have : (3 ^ j <= z)%N by apply: h.
lia.
Qed.

Lemma spread_exponent (l : 'I_L) x : (l < rest)%N ->
  (3 ^ (rest - l.+1) <= powers_of p spread_perm spread_pair
    (pick spread_perm spread_pair l x))%N.
Proof.
move=> lm; rewrite /powers_of -[X in exponents _ _ _ X](cat_take_drop l).
rewrite (layers_cons (ltn_ord l)) (_ : Ordinal _ = l); last exact/val_inj.
apply: leq_trans (exponents_ge _ _ _ _ _ _ _).
have E : l.+1 = (rest - (rest - l.+1))%N by lia.
by rewrite [X in drop X _]E tot_even // leq_subr.
Qed.

Lemma sorted_pair_eq t u : sorted_pair t = sorted_pair u -> t = u \/ t = (u.2, u.1).
Proof.
case: t u => [i j] [c e]; rewrite /sorted_pair /=.
by case: ifP => _; case: ifP => _ [-> ->]; [left|right|right|left].
Qed.

Definition new_pair (l : nat) (c : 'I_w) : 'I_w * 'I_w := sorted_pair (c, c + inZp l).

Lemma new_pair_inj l l' c c' : (l < w./2.+1)%N -> (l' < w./2.+1)%N ->
  new_pair l c = new_pair l' c' -> l = l' /\ c = c'.
Proof.
move=> small small'.
have wo : (w./2.*2 < w)%N.
  have : odd w by rewrite wE oddX orbT.
  by rewrite -[X in (_ < X)%N](odd_double_half w) => ->; rewrite add1n.
move=> /sorted_pair_eq; case=> E0.
  have cc : c = c' := congr1 fst E0; have E2 : c + inZp l = c' + inZp l' := congr1 snd E0.
  rewrite {}cc {c E0} in E2 *; split=> //.
  have E : inZp l = inZp l' :> 'I_w by apply: (@addrI _ c').
  have := congr1 (fun x : 'I_w => x : nat) E; rewrite /= !modn_small //; lia.
have cc : c = c' + inZp l' := congr1 fst E0; have E : c + inZp l = c' := congr1 snd E0.
rewrite {}cc {c E0} in E *.
have : inZp l' + inZp l = 0 :> 'I_w by apply: (@addrI _ c'); rewrite addrA E addr0.
move=> /(congr1 (fun x : 'I_w => x : nat)); rewrite /= modnDm modn_small; last by lia.
move=> ll; have l0 : l = 0%N by lia.
have l0' : l' = 0%N by lia.
by rewrite l0 l0' inZp0 addr0.
Qed.

Definition new_moment (x : 'I_(layers_new m k L) * place b w) : moment_name b w :=
  (x.2.1, new_pair x.1 x.2.2).

Lemma new_moment_inj : injective new_moment.
Proof.
have small (l : 'I_(layers_new m k L)) : (l < w./2.+1)%N.
  by rewrite wE; apply: leq_trans (ltn_ord l) (geq_minr _ _).
move=> [l [q c]] [l' [q' c']] E; have qq : q = q' := congr1 fst E.
have [] := new_pair_inj (small l) (small l') (congr1 snd E).
by move=> /= /val_inj -> ->; rewrite qq.
Qed.

Lemma new_layer (x : 'I_(layers_new m k L) * place b w) :
  (3 ^ (rest - x.1.+1) <= powers_of p spread_perm spread_pair (new_moment x))%N.
Proof.
have lm : (x.1 < rest)%N by apply: leq_trans (ltn_ord x.1) (geq_minl _ _).
have lh : (x.1 < (3 ^ m)./2.+1)%N by apply: leq_trans (ltn_ord x.1) (geq_minr _ _).
have lL : (x.1 < L)%N by apply: leq_trans lm _; rewrite -subnDA leq_subr.
have -> : new_moment x = pick spread_perm spread_pair (Ordinal lL) x.2.
  rewrite /new_moment /new_pair /pick /spread_perm /spread_pair /shifts /= lm /=.
  by rewrite (minn_idPl _) // !inZp0 !addr0.
exact: spread_exponent.
Qed.

Lemma spread_exponents :
  (spread_product m k L <= \prod_t (powers_of p spread_perm spread_pair t).+1)%N.
Proof.
set e := powers_of p spread_perm spread_pair; set K := layers_new m k L.
apply: (@leq_trans (\prod_(x : 'I_K * place b w) (e (new_moment x)).+1)); last first.
  have u : uniq [seq new_moment x | x <- enum (('I_K * place b w)%type : finType)].
    by rewrite map_inj_uniq ?enum_uniq //; exact: new_moment_inj.
  apply: (@leq_trans (\prod_(t <- [seq new_moment x | x <- enum (('I_K * place b w)%type : finType)])
      (e t).+1)%N).
    by rewrite big_map big_enum.
  rewrite (big_uniq _ u) big_mkcond; apply: leq_prod => t _; by case: ifP.
apply: (@leq_trans (\prod_(x : 'I_K * place b w) (3 ^ (rest - x.1.+1) + 1))); last first.
  by apply: leq_prod => x _; rewrite addn1 ltnS; apply: new_layer.
rewrite -(pair_bigA _ (fun (l : 'I_K) (_ : place b w) => (3 ^ (rest - l.+1) + 1)%N)) /=.
rewrite (eq_bigr (fun l : 'I_K => ((3 ^ (rest - l.+1) + 1) ^ (w * b))%N)) => [|l _]; last first.
  by rewrite prod_nat_const card_prod !card_ord mulnC.
rewrite /spread_product -wE -bE -/K big_add1 /= big_mkord.
by rewrite (big_morph (fun x => x ^ (w * b))%N (fun x y => expnMn x y _) (exp1n _)).
Qed.

End Spreading.

(* --- the product in numbers ------------------------------------------------------------------- *)

Definition spread_value (m k L : N) : N :=
  let n := N.min (L - m - k) (3 ^ m / 2 + 1) in
  ((factors (N.to_nat n) (3 ^ (L - m - k - n))) ^ (3 ^ m * 2 ^ k))%num.

Lemma spread_valueE (m k L : nat) :
  spread_value (bin_of_nat m) (bin_of_nat k) (bin_of_nat L) = bin_of_nat (spread_product m k L).
Proof.
rewrite /spread_value !bin_of_natE (pow_bin 3) (pow_bin 2).
have -> : (N.of_nat (3 ^ m) / 2)%num = N.of_nat (3 ^ m)./2.
  have := odd_double_half (3 ^ m); rewrite oddX orbT; set h := _./2 => E.
  by rewrite -E; symmetry; apply: (N.div_unique _ _ _ 1); lia.
set n := layers_new m k L.
have -> : (N.of_nat L - N.of_nat m - N.of_nat k)%num = N.of_nat (L - m - k) by lia.
have -> : N.min (N.of_nat (L - m - k)) (N.of_nat (3 ^ m)./2 + 1) = N.of_nat n.
  by rewrite /n /layers_new; lia.
have -> : (N.of_nat (L - m - k) - N.of_nat n)%num = N.of_nat (L - m - k - n) by lia.
rewrite (pow_bin 3) Nnat.Nat2N.id factorsE -Nnat.Nat2N.inj_mul pow_bin.
congr (N.of_nat (_ ^ _)).
have nL : (n <= L - m - k)%N by apply: geq_minl.
rewrite /spread_product -/n big_add1 /= big_nat_rev add0n /= !big_mkord; apply: eq_bigr => l _.
by have := ltn_ord l => ln; rewrite -expnD; congr (3 ^ _ + 1)%N; lia.
Qed.

(* --- the lower bound -------------------------------------------------------------------------- *)

(* Over every field of characteristic 0 there is a polynomial G in the weights, not zero, outside
   of whose zeros the following holds, with or without residual connections, whatever the number of
   tokens, the position and coordinate that are read and the two sides, as long as each side has
   3^m 2^k tokens: if the output is a sum of r products of functions of the sides, then r is at
   least the product over l = 1, ..., min (L - m - k, (3^m + 1) / 2) of
   (3^(L - m - k - l) + 1)^(3^m 2^k). For every depth L >= m + k, number of heads H >= 3^m, width
   a >= 2^k of heads and width d >= 3^m 2^k. *)
Theorem spread_lower_bound (K : fieldType) (L m k H a d : nat) : [char K] =i pred0 ->
  (3 ^ m <= H)%N -> (2 ^ k <= a)%N -> (3 ^ m * 2 ^ k <= d)%N -> (m + k <= L)%N ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall v : weight_name L H a d -> K, G.@[fun k => v (enum_val k)] != 0 ->
      forall (residual : bool) n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r,
        (3 ^ m * 2 ^ k <= #|A|)%N -> (3 ^ m * 2 ^ k <= #|~: A|)%N ->
        sep_le (side_output residual (net_of v) A i p) r ->
        (nat_of_bin (spread_value (bin_of_nat m) (bin_of_nat k) (bin_of_nat L)) <= r)%N.
Proof.
move=> char0 wH ba wbd mkL; rewrite spread_valueE bin_of_natK.
have wE : (3 ^ m).-1.+1 = (3 ^ m)%N by rewrite prednK ?expn_gt0.
have bE : (2 ^ k).-1.+1 = (2 ^ k)%N by rewrite prednK ?expn_gt0.
rewrite -{1}wE in wH; rewrite -{1}bE in ba; rewrite -{1}wE -{1}bE in wbd.
have [G G0 GE] := @monomial_lower_bound K L (3 ^ m).-1.+1 (2 ^ k).-1.+1 H a d
  (spread_product m k L) (@spread_perm L m k (2 ^ k).-1) (@spread_pair L m k (3 ^ m).-1)
  char0 wH ba wbd (@spread_perm_inj L m k _) (@spread_pair_upper L m k _)
  (spread_exponents wE bE mkL).
by exists G => // v nz res n i p A r HA HB; apply: (GE v nz res n i p A r); rewrite wE bE.
Qed.

(* Claim: separation_rank/spread_lower_bound. For almost all weights, that is, outside a null set,
   the separation rank is at least the product, with or without residual connections. *)
Corollary spread_almost_all (R : archiFieldType) (L m k H a d : nat) :
  (3 ^ m <= H)%N -> (2 ^ k <= a)%N -> (3 ^ m * 2 ^ k <= d)%N -> (m + k <= L)%N ->
  almost_all (fun v : weight_name L H a d -> R =>
    forall (residual : bool) n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r,
      (3 ^ m * 2 ^ k <= #|A|)%N -> (3 ^ m * 2 ^ k <= #|~: A|)%N ->
      sep_le (side_output residual (net_of v) A i p) r ->
      (nat_of_bin (spread_value (bin_of_nat m) (bin_of_nat k) (bin_of_nat L)) <= r)%N).
Proof.
move=> wH ba wbd mkL.
by have [] := almost_all_weights (@spread_lower_bound R L m k H a d (char_num _) wH ba wbd mkL).
Qed.

(* Four layers of three heads, of width 1 and of width 2. *)
Example spread_value_4 : spread_value 1 0 4 = ((10 * 4) ^ 3)%num.
Proof. by []. Qed.
Example spread_value_4_wide : spread_value 1 1 4 = ((4 * 2) ^ 6)%num.
Proof. by []. Qed.

(* Rational weights: three layers of one head of width 2 with residual connections, two tokens on
   either side. *)
Example spread_lower_bound_2 : exists2 G : {mpoly rat[#|weight_name 3 1 2 2|]}, G != 0 &
  forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(2 + 2)) (p : 'I_2) r,
    sep_le (side_output true (net_of w) (first_half 2) i p) r -> (16 <= r)%N.
Proof.
have [HA HB] := first_half_sides 2.
have [G G0 GE] := @spread_lower_bound (rat : fieldType) 3 0 1 1 2 2 (char_num _) isT isT isT isT.
exists G => // w nz i p r; exact: GE w nz true _ i p _ r HA HB.
Qed.
Example spread_almost_all_2 (R : archiFieldType) :
  almost_all (fun w : weight_name 3 1 2 2 -> R => forall (i : 'I_(2 + 2)) (p : 'I_2) r,
    sep_le (side_output true (net_of w) (first_half 2) i p) r -> (16 <= r)%N).
Proof.
have [HA HB] := first_half_sides 2.
apply: almost_all_sub (@spread_almost_all R 3 0 1 1 2 2 isT isT isT isT) => w bound i p r.
exact: bound true _ i p _ r HA HB.
Qed.

(* --- between two counts ----------------------------------------------------------------------- *)

Definition between_value (m k L d : N) : (N * N) * (N * N) :=
  ((spread_value m k L, 1%num), (Counts.S_value d L, 1%num)).

Lemma between_valueE (m k L d : nat) : (0 < d)%N ->
  between_value (bin_of_nat m) (bin_of_nat k) (bin_of_nat L) (bin_of_nat d) =
  ((bin_of_nat (spread_product m k L), 1%num), (bin_of_nat (Counts.dimension_count d L), 1%num)).
Proof. by move=> d0; rewrite /between_value spread_valueE Counts.S_valueE. Qed.

(* As above: outside of the zeros of a polynomial in the weights, not zero, the separation rank, that
   is the least number of products of functions of the sides, lies between the two counts, with or
   without residual connections. The upper one holds for all weights and sides. *)
Theorem between_counts (K : fieldType) (L m k H a d : nat) : [char K] =i pred0 ->
  (3 ^ m <= H)%N -> (2 ^ k <= a)%N -> (3 ^ m * 2 ^ k <= d)%N -> (m + k <= L)%N ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall v : weight_name L H a d -> K, G.@[fun k => v (enum_val k)] != 0 ->
      forall (residual : bool) n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r,
        (3 ^ m * 2 ^ k <= #|A|)%N -> (3 ^ m * 2 ^ k <= #|~: A|)%N ->
        sep_rank (output_sides residual (net_of v) i p A) r ->
        let ends := between_value (bin_of_nat m) (bin_of_nat k) (bin_of_nat L) (bin_of_nat d) in
        (nat_of_bin ends.1.1 <= r <= nat_of_bin ends.2.1)%N.
Proof.
move=> char0 wH ba wd mL.
have [G G0 GE] := spread_lower_bound char0 wH ba wd mL.
exists G => // v nz residual n i p A r HA HB [S least]; apply/andP; split.
  exact: GE v nz residual n i p A r HA HB S.
apply: least.
have := @dimension_count_checked K d a n residual (net_of v) i p A.
by rewrite size_net_of.
Qed.

(* Rational weights: three layers of one head of width 2, with residual connections. *)
Example between_counts_2 : exists2 G : {mpoly rat[#|weight_name 3 1 2 2|]}, G != 0 &
  forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(2 + 2)) (p : 'I_2) r,
    sep_rank (output_sides true (net_of w) i p (first_half 2)) r -> (16 <= r <= 232)%N.
Proof.
have [HA HB] := first_half_sides 2.
have [G G0 GE] := @between_counts (rat : fieldType) 3 0 1 1 2 2 (char_num _) isT isT isT isT.
exists G => // w nz i p r rank; have := GE w nz true _ i p _ r HA HB rank.
have -> : between_value (bin_of_nat 0) (bin_of_nat 1) (bin_of_nat 3) (bin_of_nat 2) =
    ((16, 1), (232, 1))%num by vm_compute.
exact.
Qed.

(* --- no bound that is linear in d L, from just past the threshold on -------------------------- *)

Lemma spread_gt m k L : (m + k < L)%N -> (2 * (L - m - k) <= 3 ^ m + 1)%N ->
  (3 ^ (3 ^ m * 2 ^ k * 'C(L - m - k, 2)) < spread_product m k L)%N.
Proof.
rewrite -subnDA => mL half; rewrite /spread_product -subnDA; set n := (L - (m + k))%N in half *.
have n0 : (0 < n)%N by rewrite /n; lia.
have D : (n <= moment_count n)%N by rewrite /moment_count geq_half_double -muln2; nia.
have new : layers_new m k L = n.
  rewrite /layers_new -subnDA; apply/minn_idPl; rewrite -/n.
  by have := odd_double_half (3 ^ m); rewrite oddX orbT; lia.
rewrite mulnC expnM new ltn_exp2r ?muln_gt0 ?expn_gt0 //.
have := @product_gt n n; rewrite /product (minn_idPl D) subnn muln0 addn0.
exact.
Qed.

(* As above, with or without residual connections, with m + k < L and 2 (L - m - k) <= 3^m + 1. For
   every positive c of any ordered field with 2 c d L <= 3^m 2^k (L - m - k) (L - m - k - 1) the
   logarithm of the rank r to base 3 exceeds c d L: there is a whole M, at least c d L, with
   3^M < r. And for c = u / v, r^v > 3^(u d L). *)
Theorem no_linear_bound (K : fieldType) (L m k H a d : nat) : [char K] =i pred0 ->
  (3 ^ m <= H)%N -> (2 ^ k <= a)%N -> (3 ^ m * 2 ^ k <= d)%N -> (m + k < L)%N ->
  (2 * (L - m - k) <= 3 ^ m + 1)%N ->
  exists2 G : {mpoly K[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> K, G.@[fun k => w (enum_val k)] != 0 ->
      forall (residual : bool) n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r,
        (3 ^ m * 2 ^ k <= #|A|)%N -> (3 ^ m * 2 ^ k <= #|~: A|)%N ->
        sep_le (side_output residual (net_of w) A i p) r ->
        (forall (R : realFieldType) (c : R),
          2%:R * c * d%:R * L%:R <= (3 ^ m * 2 ^ k * ((L - m - k) * (L - m - k).-1))%:R ->
          exists2 M : nat, c * d%:R * L%:R <= M%:R & (3 ^ M < r)%N) /\
        (forall u v : nat, (0 < v)%N ->
          (2 * u * d * L <= v * (3 ^ m * 2 ^ k * ((L - m - k) * (L - m - k).-1)))%N ->
          let: (x, y) := linear_value (bin_of_nat u) (bin_of_nat v) (bin_of_nat d) (bin_of_nat L) in
          (3 ^ nat_of_bin x < r ^ nat_of_bin y)%N).
Proof.
move=> char0 wH ba wbd mkL half.
have [G G0 GE] := spread_lower_bound char0 wH ba wbd (ltnW mkL).
exists G => // w nz residual n i p A r HA HB S.
have := GE w nz residual n i p A r HA HB S; rewrite spread_valueE bin_of_natK => le.
have lt := leq_trans (spread_gt mkL half) le.
have C2 : ('C(L - m - k, 2).*2 = (L - m - k) * (L - m - k).-1)%N.
  by rewrite bin2 -[RHS]odd_double_half oddM; case: (L - m - k)%N => //= l; rewrite andNb.
move: lt; rewrite -C2; move: (3 ^ m * 2 ^ k)%N => e lt; split=> [R c cL|u v v0 uv].
  exists (e * 'C(L - m - k, 2))%N; last exact: lt.
  rewrite -(ler_pM2r (_ : 0 < 2%:R)) ?ltr0n // -natrM muln2 doubleMr.
  by apply: le_trans cL; rewrite mulrC !mulrA lexx.
rewrite linear_valueE !bin_of_natK.
apply: (@leq_ltn_trans (3 ^ ((e * 'C(L - m - k, 2)) * v))%N); last by rewrite expnM ltn_exp2r.
rewrite leq_exp2l // -(leq_pmul2r (_ : 0 < 2)%N) //.
by move: uv; rewrite -muln2; move: 'C(_, _) => y; lia.
Qed.

(* Claim: separation_rank/no_linear_bound_past_threshold. For almost all weights, that is, outside a
   null set, which is the same for every c, the logarithm of the separation rank to base 3 exceeds
   c d L. *)
Corollary no_linear_almost_all (K : archiFieldType) (L m k H a d : nat) :
  (3 ^ m <= H)%N -> (2 ^ k <= a)%N -> (3 ^ m * 2 ^ k <= d)%N -> (m + k < L)%N ->
  (2 * (L - m - k) <= 3 ^ m + 1)%N ->
  almost_all (fun w : weight_name L H a d -> K =>
    forall (residual : bool) n (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) r,
      (3 ^ m * 2 ^ k <= #|A|)%N -> (3 ^ m * 2 ^ k <= #|~: A|)%N ->
      sep_le (side_output residual (net_of w) A i p) r ->
      (forall (R : realFieldType) (c : R),
        2%:R * c * d%:R * L%:R <= (3 ^ m * 2 ^ k * ((L - m - k) * (L - m - k).-1))%:R ->
        exists2 M : nat, c * d%:R * L%:R <= M%:R & (3 ^ M < r)%N) /\
      (forall u v : nat, (0 < v)%N ->
        (2 * u * d * L <= v * (3 ^ m * 2 ^ k * ((L - m - k) * (L - m - k).-1)))%N ->
        let: (x, y) := linear_value (bin_of_nat u) (bin_of_nat v) (bin_of_nat d) (bin_of_nat L) in
        (3 ^ nat_of_bin x < r ^ nat_of_bin y)%N)).
Proof.
move=> wH ba wbd mkL half.
by have [] := almost_all_weights (@no_linear_bound K L m k H a d (char_num _) wH ba wbd mkL half).
Qed.

(* Width 9, nine heads of width 1, six layers and c = 1: 2 c d L = 108 is 9 * 4 * 3. *)
Example no_linear_bound_9 : exists2 G : {mpoly rat[#|weight_name 6 9 1 9|]}, G != 0 &
  forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(9 + 9)) (p : 'I_9) r,
    sep_le (side_output false (net_of w) (first_half 9) i p) r -> (3 ^ 54 < r)%N.
Proof.
have [HA HB] := first_half_sides 9.
have [G G0 GE] :=
  @no_linear_bound (rat : fieldType) 6 2 0 9 1 9 (char_num _) isT isT isT isT isT.
exists G => // w nz i p r S; have [_ pair] := GE w nz false _ i p _ r HA HB S.
have : (3 ^ 54 < r ^ 1)%N by exact: pair 1%N 1%N isT isT.
by rewrite expn1.
Qed.
Example no_linear_almost_all_9 (K : archiFieldType) :
  almost_all (fun w : weight_name 6 9 1 9 -> K => forall (i : 'I_(9 + 9)) (p : 'I_9) r,
    sep_le (side_output false (net_of w) (first_half 9) i p) r -> (3 ^ 54 < r)%N).
Proof.
have [HA HB] := first_half_sides 9.
apply: almost_all_sub (@no_linear_almost_all K 6 2 0 9 1 9 isT isT isT isT isT) => w bound i p r S.
have [_ pair] := bound false _ i p _ r HA HB S; rewrite -[r]expn1; exact: pair 1%N 1%N isT isT.
Qed.

(* Width 18, nine heads of width 2, eight layers with residual connections, and c = 1: 2 c d L = 288
   is at most 18 * 5 * 4. *)
Example no_linear_bound_18 : exists2 G : {mpoly rat[#|weight_name 8 9 2 18|]}, G != 0 &
  forall w, G.@[fun k => w (enum_val k)] != 0 -> forall (i : 'I_(18 + 18)) (p : 'I_18) r,
    sep_le (side_output true (net_of w) (first_half 18) i p) r -> (3 ^ 144 < r)%N.
Proof.
have [HA HB] := first_half_sides 18.
have [G G0 GE] :=
  @no_linear_bound (rat : fieldType) 8 2 1 9 2 18 (char_num _) isT isT isT isT isT.
exists G => // w nz i p r S; have [_ pair] := GE w nz true _ i p _ r HA HB S.
have : (3 ^ 144 < r ^ 1)%N by exact: pair 1%N 1%N isT isT.
by rewrite expn1.
Qed.
