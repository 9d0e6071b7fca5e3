(* The separation rank of linearised self-attention: upper bounds for all weights, by the dimension
   count S(d, L), by Theorem 1 and by the exponents of one token a side; lower bounds by minors, for
   almost all weights from one choice of weights, also modulo a prime; and the exact value d + 1 at
   depth 1.

   The net stands in LinearAttention.v, the numbers in Counts.v. All upper bounds hold over every
   commutative ring, for any number of tokens, of layers and of heads in each layer, with or without
   residual connections, and for every partition of the tokens into two sides, balanced or not. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From mathcomp Require Import mpoly freeg.
From Depthlaw Require Import LinearAttention Degree Counts.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* --- the objects ------------------------------------------------------------------------------ *)

(* F of a left and a right argument is a sum of r products. *)
Definition sep_le (R : comRingType) (A B : Type) (F : A -> B -> R) (r : nat) : Prop :=
  exists (g : 'I_r -> A -> R) (h : 'I_r -> B -> R), forall a b, F a b = \sum_i g i a * h i b.

(* r is the separation rank of F: the least number of products. *)
Definition sep_rank (R : comRingType) (A B : Type) (F : A -> B -> R) (r : nat) : Prop :=
  sep_le F r /\ forall s, sep_le F s -> (r <= s)%N.

(* Tokens that are those of x on the side A, and those of z on the other side. *)
Definition two_sides (T : Type) n (A : {set 'I_n}) (x z : 'I_n -> T) (j : 'I_n) : T :=
  if j \in A then x j else z j.

(* Coordinate p of the output at position i, as a function of the tokens of both sides. It sees x on
   the side A only, and z on the other side only. *)
Definition output_sides (R : comRingType) d a n residual (layers : seq (seq (head R d a)))
    (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) (x z : 'I_n -> 'cV[R]_d) : R :=
  net residual layers (two_sides A x z) i p 0.

(* The values of F at m left and m right arguments. *)
Definition value_matrix (R : comRingType) (A B : Type) (F : A -> B -> R) m
    (a : 'I_m -> A) (b : 'I_m -> B) : 'M[R]_m := \matrix_(s, t) F (a s) (b t).

(* --- sums of products ------------------------------------------------------------------------- *)


Section Sums.
Variables (R : comRingType) (A B : Type).
Implicit Types F G : A -> B -> R.

Lemma eq_sep_le F G r : (forall a b, F a b = G a b) -> sep_le F r -> sep_le G r.
Proof. by move=> FG [g [h E]]; exists g, h => a b; rewrite -FG. Qed.

Lemma sep_le_fin (K : finType) (P : pred K) (g : K -> A -> R) (h : K -> B -> R) F :
  (forall a b, F a b = \sum_(k | P k) g k a * h k b) -> sep_le F #|P|.
Proof.
move=> E; exists (fun k => g (enum_val k)), (fun k => h (enum_val k)) => a b; rewrite E.
by rewrite -(big_enum_val (fun k => g k a * h k b)).
Qed.

Lemma sep_leD F G r s : sep_le F r -> sep_le G s -> sep_le (fun a b => F a b + G a b) (r + s).
Proof.
move=> [f [f' Ef]] [g [g' Eg]].
exists (fun k => match split k with inl i => f i | inr j => g j end),
  (fun k => match split k with inl i => f' i | inr j => g' j end) => a b.
rewrite Ef Eg big_split_ord; congr (_ + _); apply: eq_bigr => k _.
  by rewrite (unsplitK (inl k)).
by rewrite (unsplitK (inr k)).
Qed.

(* A sum of r products is one of any s >= r: zeros may be added. *)
Theorem sep_le_mono F r s : (r <= s)%N -> sep_le F r -> sep_le F s.
Proof.
move=> rs Fr; rewrite -(subnKC rs).
apply: (eq_sep_le (F := fun a b => F a b + 0)) => [a b|]; first by rewrite addr0.
apply: sep_leD Fr _; exists (fun _ _ => 0), (fun _ _ => 0) => a b.
by rewrite big1 // => k _; rewrite mul0r.
Qed.

(* The two arguments play the same role. *)
Lemma sep_leC F r : sep_le F r -> sep_le (fun b a => F a b) r.
Proof.
by move=> [g [h E]]; exists h, g => b a; rewrite E; apply: eq_bigr => i _; rewrite mulrC.
Qed.

(* Other arguments may be put in. *)
Lemma sep_le_comp (A' B' : Type) (f : A' -> A) (f' : B' -> B) F r :
  sep_le F r -> sep_le (fun a b => F (f a) (f' b)) r.
Proof.
by move=> [g [h E]]; exists (fun i a => g i (f a)), (fun i b => h i (f' b)) => a b; rewrite E.
Qed.

End Sums.

(* --- monomials of bounded degree -------------------------------------------------------------- *)

(* A monomial in s variables is the tuple of its exponents. *)
Lemma count_degree (s C k : nat) : (k <= C)%N ->
  (#|[pred t : s.-tuple 'I_C.+1 | (\sum_j tnth t j == k :> nat)%N]| <= monomials s k)%N.
Proof.
move=> kC; case: s => [|s].
  rewrite -[leqRHS]/'C(0 + k - 1, k); case: k kC => [|k] _.
    by rewrite bin0; apply: leq_trans (max_card _) _; rewrite card_tuple expn0.
  by rewrite eq_card0 // => t; rewrite !inE big_ord0.
rewrite /monomials (_ : s.+1 + k - 1 = s + k)%N; last by lia.
rewrite -bin_sub ?leq_addl // addnK -card_ord_partitions.
pose f (t : s.+1.-tuple 'I_C.+1) : s.+1.-tuple 'I_k.+1 := 
  [tuple of map (fun x : 'I_C.+1 => inord x : 'I_k.+1) t].
have small (t : s.+1.-tuple 'I_C.+1) j : (\sum_j tnth t j)%N == k -> (tnth t j < k.+1)%N.
  by move=> /eqP <-; rewrite ltnS (bigD1 j) //= leq_addr.
rewrite -(@card_in_imset _ _ f); last first.
  move=> t u; rewrite !inE => tk uk /(congr1 (fun w => tnth w)) tu.
  apply: eq_from_tnth => j; have /(congr1 val) := congr1 (fun w => w j) tu.
  by rewrite !tnth_map /= !inordK ?small // => /val_inj.
apply: subset_leq_card; apply/subsetP => _ /imsetP[t tk ->]; rewrite inE in tk.
rewrite inE big_tuple -[X in _ == X](eqP tk); apply/eqP/eq_bigr => j _.
by rewrite tnth_map inordK // small.
Qed.

Lemma count_degrees (s C : nat) (K : pred nat) : (forall k, K k -> (k <= C)%N) ->
  (#|[pred t : s.-tuple 'I_C.+1 | K (\sum_j tnth t j)%N]| <= \sum_(k < C.+1 | K k) monomials s k)%N.
Proof.
move=> KC; rewrite -sum1_card /=.
pose total (t : s.-tuple 'I_C.+1) : 'I_C.+1 := inord (\sum_j tnth t j).
rewrite (partition_big total (fun k : 'I_C.+1 => K k)) /=; last first.
  by move=> t; rewrite inE => tK; rewrite /total inordK // ltnS KC.
apply: leq_sum => k _; have kC : (k <= C)%N by rewrite -ltnS.
apply: leq_trans (count_degree s kC); rewrite sum1dep_card.
apply/subset_leq_card/subsetP => t; rewrite !inE => /andP[tK /eqP <-].
by rewrite /total inordK // ltnS KC.
Qed.

(* --- polynomials in the entries of both sides ------------------------------------------------- *)

(* Polynomials p_e in left and right variables, combined with weights x_e that the left side sees,
   are grouped by their left monomials where the left degree lies in KA, and by their right
   monomials otherwise, where the right degree lies in KB. *)
Section Grouping.
Variables (R : comRingType) (A B : Type) (N C : nat) (S : {set 'I_N}) (E : finType).
Variables (x : E -> A -> R) (p : E -> {mpoly R[N]}) (g : 'I_N -> A -> R) (h : 'I_N -> B -> R).

Definition left_degree (T : {set 'I_N}) (m : 'X_{1..N}) : nat := (\sum_(k in T) m k)%N.

Lemma left_degreeC T m : (left_degree T m + left_degree (~: T) m)%N = mdeg m.
Proof.
rewrite mdegE [RHS](bigID (mem T)) /=; congr (_ + _)%N.
by apply: eq_bigl => k; rewrite inE.
Qed.

Definition exponents (T : {set 'I_N}) (m : 'X_{1..N}) : #|T|.-tuple 'I_C.+1 :=
  [tuple inord (m (enum_val k)) | k < #|T|].

Lemma sum_exponents T m : (left_degree T m <= C)%N ->
  (\sum_j tnth (exponents T m) j)%N = left_degree T m.
Proof.
move=> mC; rewrite /left_degree (big_enum_val (fun k => m k)); apply: eq_bigr => j _.
rewrite tnth_mktuple inordK // ltnS (leq_trans _ mC) // /left_degree.
by rewrite (bigD1 (enum_val j)) ?enum_valP //= leq_addr.
Qed.

Lemma prod_exponents T m (f : 'I_N -> R) : (left_degree T m <= C)%N ->
  \prod_(k in T) f k ^+ m k = \prod_j f (enum_val j) ^+ tnth (exponents T m) j.
Proof.
move=> mC; rewrite (big_enum_val (fun k => f k ^+ m k)); apply: eq_bigr => j _.
rewrite tnth_mktuple inordK // ltnS (leq_trans _ mC) // /left_degree.
by rewrite (bigD1 (enum_val j)) ?enum_valP //= leq_addr.
Qed.

Variables (KA KB : pred nat).
Hypotheses (KAC : forall k, KA k -> (k <= C)%N) (KBC : forall k, KB k -> (k <= C)%N).
Hypothesis covered : forall e m, m \in msupp (p e) ->
  KA (left_degree S m) || KB (left_degree (~: S) m).

Lemma sep_le_degrees :
  sep_le (fun a b => \sum_e x e a * (p e).@[fun k => if k \in S then g k a else h k b])
    (#|E| * (\sum_(k < C.+1 | KA k) monomials #|S| k) +
     \sum_(k < C.+1 | KB k) monomials #|~: S| k).
Proof.
pose L m a := \prod_(k in S) g k a ^+ m k; pose R' m b := \prod_(k in ~: S) h k b ^+ m k.
have value e a b : (p e).@[fun k => if k \in S then g k a else h k b] =
    \sum_(m <- msupp (p e)) (p e)@_m * (L m a * R' m b).
  rewrite mevalE; apply: eq_bigr => m _; congr (_ * _); rewrite (bigID (mem S)) /=.
  congr (_ * _); first by apply: eq_bigr => k ->.
  by apply: eq_big => [k|k /negbTE -> //]; rewrite inE.
pose first m := KA (left_degree S m).
apply: (eq_sep_le (F := fun a b =>
  (\sum_e x e a * \sum_(m <- msupp (p e) | first m) (p e)@_m * (L m a * R' m b)) +
  \sum_e x e a * \sum_(m <- msupp (p e) | ~~ first m) (p e)@_m * (L m a * R' m b))) => [a b|].
  rewrite /= -big_split /=; apply: eq_bigr => e _; rewrite value -mulrDr; congr (_ * _).
  by rewrite [RHS](bigID first).
apply: sep_leD.
  pose PA : pred (#|S|.-tuple 'I_C.+1) := fun t => KA (\sum_j tnth t j)%N.
  pose PE : pred (E * #|S|.-tuple 'I_C.+1) := fun et => PA et.2.
  apply: (@sep_le_mono _ _ _ _ #|PE|).
    have -> : #|PE| = (#|E| * #|PA|)%N.
      by rewrite -(cardX (pred_of_argType E)); apply: eq_card => -[e t]; rewrite !inE.
    by rewrite leq_mul2l count_degrees ?orbT.
  apply: (@sep_le_fin _ _ _ _ PE (fun et a => x et.1 a * \prod_j g (enum_val j) a ^+ tnth et.2 j)
    (fun et b => \sum_(m <- msupp (p et.1) | first m && (exponents S m == et.2))
       (p et.1)@_m * R' m b)) => a b.
  rewrite -(pair_big_dep xpredT (fun e t => PA t) (fun e t =>
    (x e a * \prod_j g (enum_val j) a ^+ tnth t j) *
    \sum_(m <- msupp (p e) | first m && (exponents S m == t)) (p e)@_m * R' m b)) /=.
  apply: eq_bigr => e _.
  rewrite (partition_big (exponents S) PA) /= => [|m fm]; last first.
    by rewrite /in_mem /= /PA sum_exponents // KAC.
  rewrite mulr_sumr; apply: eq_bigr => t _; rewrite -mulrA; congr (_ * _).
  rewrite mulr_sumr; apply: eq_bigr => m /andP[fm /eqP <-].
  by rewrite -(prod_exponents (fun k => g k a)) ?KAC // mulrCA.
pose PB : pred (#|~: S|.-tuple 'I_C.+1) := fun t => KB (\sum_j tnth t j)%N.
apply: (@sep_le_mono _ _ _ _ #|PB|); first exact: count_degrees.
apply: (@sep_le_fin _ _ _ _ PB
  (fun t a => \sum_e x e a * \sum_(m <- msupp (p e) | ~~ first m && (exponents (~: S) m == t))
       (p e)@_m * L m a)
  (fun t b => \prod_j h (enum_val j) b ^+ tnth t j)) => a b.
rewrite (eq_bigr (fun e => \sum_(t | PB t) x e a * \sum_(m <- msupp (p e) |
    ~~ first m && (exponents (~: S) m == t)) (p e)@_m * (L m a * R' m b))) => [|e _].
  rewrite exchange_big /=; apply: eq_bigr => t _; rewrite mulr_suml; apply: eq_bigr => e _.
  rewrite -mulrA; congr (_ * _); rewrite mulr_suml big_seq_cond [RHS]big_seq_cond.
  apply: eq_bigr => m /and3P[mp fm /eqP <-]; rewrite -mulrA; congr (_ * (_ * _)).
  have := covered mp; rewrite -/(first m) (negbTE fm) /= => fB.
  by rewrite /R' (prod_exponents (fun k => h k b)) ?KBC.
rewrite -mulr_sumr; congr (_ * _); rewrite big_seq_cond.
rewrite (partition_big (exponents (~: S)) PB) /= => [|m /andP[mp fm]]; last first.
  have := covered mp; rewrite -/(first m) (negbTE fm) /= => fB.
  by rewrite /in_mem /= /PB sum_exponents // KBC.
apply: eq_bigr => t _; rewrite [RHS]big_seq_cond; apply: eq_bigl => m.
by rewrite andbA.
Qed.

End Grouping.


(* --- the normal form with residual connections ------------------------------------------------ *)

Section Normal.
Variables (R : comRingType) (d a : nat).
Implicit Types (layers : seq (seq (head R d a))).

Definition layer_matrix_of (residual : bool) (heads : seq (head R d a)) (M : 'M[R]_d) : 'M[R]_d :=
  (if residual then 1%:M else 0) + layer_matrix heads M.

Fixpoint net_matrix_of residual layers (M : 'M[R]_d) : 'M[R]_d :=
  if layers is heads :: rest then
    let T := layer_matrix_of residual heads M in net_matrix_of residual rest (T *m M *m T^T) *m T
  else 1%:M.

Lemma layer_normal_of n residual heads (y : 'I_n -> 'cV[R]_d) i :
  layer residual heads y i = layer_matrix_of residual heads (moments y) *m y i.
Proof.
rewrite /layer_matrix_of mulmxDl -layer_normal /layer add0r; congr (_ + _).
by case: residual; rewrite ?mul1mx ?mul0mx.
Qed.

(* With residual connections too the output is a matrix, which depends on the tokens by their second
   moments only, times the token that is read; each layer multiplies by 1 + T instead of T. *)
Theorem normal_form_of n residual layers (x : 'I_n -> 'cV[R]_d) i :
  net residual layers x i = net_matrix_of residual layers (moments x) *m x i.
Proof.
elim: layers x => [|heads rest IH] x /=; first by rewrite mul1mx.
rewrite IH layer_normal_of mulmxA; congr (net_matrix_of _ _ _ *m _ *m _).
rewrite {1}/moments mulmx_sumr mulmx_suml; apply: eq_bigr => j _.
by rewrite layer_normal_of trmx_mul !mulmxA.
Qed.

End Normal.

Lemma net_matrix_of_image (R S : comRingType) (f : {rmorphism R -> S}) d a residual
    (layers : seq (seq (head R d a))) M :
  map_mx f (net_matrix_of residual layers M) =
  net_matrix_of residual (net_map f layers) (map_mx f M).
Proof.
elim: layers M => [|heads rest IH] M /=; first exact: map_mx1.
have E : map_mx f (layer_matrix_of residual heads M) =
    layer_matrix_of residual (map (head_map f) heads) (map_mx f M).
  rewrite /layer_matrix_of map_mxD layer_matrix_image; congr (_ + _).
  by clear IH; case: residual; rewrite ?map_mx1 ?map_mx0.
by rewrite map_mxM IH !map_mxM -map_trmx E.
Qed.

(* Matrices of polynomials of degree at most k. *)
Section Bounded.
Variables (R : comRingType) (N d a : nat).
Local Notation inR := (@mpolyC N R : {rmorphism _ -> _}).

Definition bounded e f (k : nat) (M : 'M[{mpoly R[N]}]_(e, f)) :=
  forall p q, within [pred m | mdeg m <= k]%N (M p q).

Lemma bounded_mul e f g (k l : nat) (M : 'M_(e, f)) (M' : 'M_(f, g)) :
  bounded k M -> bounded l M' -> bounded (k + l) (M *m M').
Proof.
move=> Mk Ml p q; rewrite mxE; apply: within_sum => r _.
by apply: withinM (Mk p r) (Ml r q) => u v /= uk vl; rewrite mdegD leq_add.
Qed.

Lemma bounded_weights e f k (W : 'M[R]_(e, f)) : bounded k (map_mx inR W).
Proof. by move=> p q; rewrite mxE /within msuppC; case: ifP => //= _; rewrite mdeg0. Qed.

Lemma bounded_tr e f k (M : 'M_(e, f)) : bounded k M -> bounded k M^T.
Proof. by move=> Mk p q; rewrite mxE. Qed.

Lemma bounded1 k : bounded k (1%:M : 'M_d).
Proof. by have := bounded_weights k (1%:M : 'M[R]_d); rewrite map_mx1. Qed.

Lemma layer_matrix_bounded residual (heads : seq (head R d a)) k M :
  bounded k M -> bounded k (layer_matrix_of residual (map (head_map inR) heads) M).
Proof.
move=> Mk p q; rewrite mxE; apply: withinD.
  by case: residual; [exact: bounded1|rewrite mxE within0].
rewrite /layer_matrix summxE big_map; apply: within_sum => w _.
suff H : bounded k (map_mx inR (output w) *m map_mx inR (value w) *m M *m
  (map_mx inR (key w))^T *m map_mx inR (query w)) by exact: H.
rewrite -[k]addn0; apply: bounded_mul (bounded_weights _ _).
rewrite -[k]addn0; apply: bounded_mul; last exact/bounded_tr/bounded_weights.
rewrite -[k]add0n; apply: bounded_mul Mk.
exact: (@bounded_mul _ _ _ 0 0 _ _ (bounded_weights _ _) (bounded_weights _ _)).
Qed.

Lemma net_matrix_bounded residual (layers : seq (seq (head R d a))) k M : bounded k M ->
  bounded (k * moment_degree (size layers)) (net_matrix_of residual (net_map inR layers) M).
Proof.
elim: layers k M => [|heads rest IH] k M Mk /=; first exact: bounded1.
have T := layer_matrix_bounded residual heads Mk.
have -> : (k * moment_degree (size rest).+1 = (k + k + k) * moment_degree (size rest) + k)%N.
  by rewrite moment_degreeS; nia.
apply: (bounded_mul _ T); apply: IH; apply: bounded_mul (bounded_tr T); exact: bounded_mul T Mk.
Qed.

End Bounded.

(* --- the count -------------------------------------------------------------------------------- *)

(* A symmetric matrix of variables, one for each place on or above the diagonal. *)
Section Symmetric.
Variables (d : nat).

Definition upper := [pred pq : 'I_d * 'I_d | pq.1 <= pq.2]%N.

Lemma card_upper : #|upper| = moment_count d.
Proof.
apply: double_inj; rewrite moment_count_double.
have -> : (#|upper|.*2 = #|upper| + #|[pred pq : 'I_d * 'I_d | pq.2 <= pq.1]%N|)%N.
  rewrite -addnn; congr (_ + _)%N; pose swap (pq : 'I_d * 'I_d) := (pq.2, pq.1).
  rewrite -(@card_image _ _ swap _ upper) => [|[p q] [s t] [-> ->] //].
  apply: eq_card => -[p q]; rewrite !inE /=; apply/imageP/idP => [[[s t] /= st [-> ->]] //|qp].
  by exists (q, p).
rewrite -cardUI; set U := #|[predU _ & _]|; set I := #|[predI _ & _]|.
have -> : U = (d * d)%N.
  rewrite /U (eq_card (B := predT)) => [|[p q]]; last by rewrite !inE /= leq_total.
  by rewrite card_prod card_ord.
have -> : I = d; last by rewrite mulnS addnC.
rewrite /I -[RHS]card_ord -(@card_image _ _ (fun p : 'I_d => (p, p)) _ xpredT) => [|p q []] //.
apply: eq_card => -[p q]; rewrite !inE /= -eqn_leq.
apply/eqP/imageP => [/val_inj->|[s _ [-> ->]] //]; by exists q.
Qed.

Definition sorted_pair (p q : 'I_d) : 'I_d * 'I_d := if (p <= q)%N then (p, q) else (q, p).

Lemma sorted_pair_upper p q : sorted_pair p q \in upper.
Proof. by rewrite /sorted_pair; case: ifP => pq; rewrite !inE //= ltnW // ltnNge pq. Qed.

Definition place (p q : 'I_d) : 'I_#|upper| :=
  enum_rank_in (sorted_pair_upper p q) (sorted_pair p q).

Definition entry (R : comRingType) (M : 'M[R]_d) (k : 'I_#|upper|) : R :=
  M (enum_val k).1 (enum_val k).2.

Lemma entry_place (R : comRingType) (M : 'M[R]_d) p q : M^T = M -> entry M (place p q) = M p q.
Proof.
move=> Ms; rewrite /entry /place enum_rankK_in ?sorted_pair_upper // /sorted_pair.
by case: ifP => //= _; rewrite -[in LHS]Ms mxE.
Qed.

End Symmetric.

(* Tokens E w, with w of dimension r. For all tokens, E = 1 and r = d. *)
Section Halves.
Variables (R : comRingType) (d a n r : nat) (residual : bool) (E : 'M[R]_(d, r)).
Implicit Types (layers : seq (seq (head R d a))).
Local Notation D := #|upper r|.
Local Notation inR := (@mpolyC (D + D) R : {rmorphism _ -> _}).

(* The sum of two symmetric matrices of variables. *)
Definition two_moments : 'M[{mpoly R[D + D]}]_r :=
  \matrix_(p, q) ('X_(lshift D (place p q)) + 'X_(rshift D (place p q))).

Definition sides_matrix layers : 'M[{mpoly R[D + D]}]_(d, r) :=
  net_matrix_of residual (net_map inR layers) (map_mx inR E *m two_moments *m (map_mx inR E)^T) *m
  map_mx inR E.

Definition left_half : {set 'I_(D + D)} := [set lshift D k | k : 'I_D].

Lemma left_halfF k : (rshift D k \in left_half) = false.
Proof. by apply/imsetP => -[j _ /(congr1 val) /=]; have := ltn_ord j; lia. Qed.

Lemma card_left_half : #|left_half| = D.
Proof. by rewrite card_imset ?card_ord //; apply: lshift_inj. Qed.

Lemma card_right_half : #|~: left_half| = D.
Proof. by have := cardsC left_half; rewrite card_left_half card_ord; move/addnI. Qed.

Definition half_moments (A : {set 'I_n}) (w : 'I_n -> 'cV[R]_r) (k : 'I_(D + D)) : R :=
  entry (\sum_(j in A) w j *m (w j)^T) (match split k with inl j | inr j => j end).

Lemma output_sidesE layers (i : 'I_n) p (A : {set 'I_n}) (x z : 'I_n -> 'cV[R]_r) : i \in A ->
  output_sides residual layers i p A (fun j => E *m x j) (fun j => E *m z j) =
  \sum_e x i e 0 * (sides_matrix layers p e).@[fun k =>
    if k \in left_half then half_moments A x k else half_moments (~: A) z k].
Proof.
move=> iA; rewrite /output_sides normal_form_of /two_sides iA mulmxA mxE.
apply: eq_bigr => e _; rewrite mulrC; congr (_ * _); set v := (X in _.@[X]).
transitivity (map_mx (meval v : {rmorphism _ -> _}) (sides_matrix layers) p e); last by rewrite mxE.
have constE : map_mx (meval v : {rmorphism _ -> _}) (map_mx inR E) = E.
  by apply/matrixP => s t; rewrite !mxE /= mevalC.
rewrite map_mxM net_matrix_of_image constE; congr ((net_matrix_of residual _ _ *m _) p e).
  rewrite /net_map -map_comp -[LHS]map_id; apply: eq_map => heads /=.
  rewrite -map_comp -[LHS]map_id; apply: eq_map => -[q k w o] /=; rewrite /head_map /=.
  by congr Head; apply/matrixP => s t; rewrite !mxE /= mevalC.
rewrite !map_mxM -!map_trmx constE.
pose y j := if j \in A then x j else z j.
transitivity (E *m (\sum_j y j *m (y j)^T) *m E^T).
  rewrite mulmx_sumr mulmx_suml; apply: eq_bigr => j _; rewrite /y.
  by case: ifP => _; rewrite trmx_mul !mulmxA.
congr (_ *m _ *m _).
have sym (P : pred 'I_n) (u : 'I_n -> 'cV[R]_r) :
    (\sum_(j | P j) u j *m (u j)^T)^T = \sum_(j | P j) u j *m (u j)^T.
  by rewrite raddf_sum; apply: eq_bigr => j _ /=; rewrite trmx_mul trmxK.
apply/matrixP => s t; rewrite !mxE /= mevalD !mevalXU /v.
rewrite imset_f // left_halfF /half_moments (unsplitK (inl _)) (unsplitK (inr _)).
rewrite !entry_place ?sym // (bigID (mem A)) /= mxE; congr (_ + _).
  by rewrite !summxE; apply: eq_bigr => j; rewrite /y => ->.
by rewrite !summxE; apply: eq_big => [j|j /negbTE]; rewrite ?inE // /y => ->.
Qed.

Lemma sides_matrix_bounded layers : bounded (moment_degree (size layers)) (sides_matrix layers).
Proof.
rewrite /sides_matrix -[moment_degree _]addn0; apply: bounded_mul; last exact: bounded_weights.
rewrite -[moment_degree _]mul1n; apply: net_matrix_bounded.
rewrite -[1%N]addn0; apply: bounded_mul; last exact/bounded_tr/bounded_weights.
rewrite -[1%N]add0n; apply: bounded_mul; first exact: bounded_weights.
move=> s t; rewrite mxE.
by apply: withinD; rewrite /within msuppX /= mdeg1.
Qed.

Lemma crossing_down D' C k l : (0 < D')%N -> (k <= l)%N -> (l <= C)%N ->
  (r * monomials D' l <= monomials D' (C - l))%N ->
  (r * monomials D' k <= monomials D' (C - k))%N.
Proof.
move=> D0 kl lC le; apply: leq_trans (leq_trans le _).
  by rewrite leq_mul2l leq_monomials ?orbT.
by apply: leq_monomials => //; lia.
Qed.

Lemma output_sidesC layers (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) x z :
  output_sides residual layers i p (~: A) x z = output_sides residual layers i p A z x.
Proof.
apply: (congr1 (fun v : 'cV_d => v p 0)); apply: eq_net => j.
by rewrite /two_sides inE; case: (j \in A).
Qed.

(* Claim: separation_rank/vocabulary_bottleneck, its upper half for r <= d.
   If all tokens are E w with w of dimension r, the separation rank is at most S(r, L), for all
   E. *)
Theorem low_rank_count layers (i : 'I_n) (p : 'I_d) (A : {set 'I_n}) : (0 < r)%N ->
  sep_le (fun x z => output_sides residual layers i p A (fun j => E *m x j) (fun j => E *m z j))
    (dimension_count r (size layers)).
Proof.
move=> r0; wlog iA : A / i \in A.
  move=> H; have [/H //|iA] := boolP (i \in A).
  have /H/sep_leC : i \in ~: A by rewrite inE.
  by apply: eq_sep_le => x z; rewrite output_sidesC.
have D0 : (0 < D)%N by rewrite card_upper moment_count_gt0.
apply: (eq_sep_le (fun x z => esym (output_sidesE layers p x z iA))).
set C := moment_degree (size layers).
pose first k := (r * monomials D k <= monomials D (C - k))%N.
have := @sep_le_degrees R ('I_n -> 'cV[R]_r) ('I_n -> 'cV[R]_r) (D + D) C left_half
  ('I_r : finType) (fun e x => x i e 0) (fun e => sides_matrix layers p e)
  (fun k x => half_moments A x k) (fun k z => half_moments (~: A) z k)
  (fun k => (k <= C)%N && first k) (fun l => (l <= C)%N && ~~ first (C - l)%N).
rewrite card_left_half card_right_half card_ord => /(_ _ _ _)/sep_le_mono; apply.
- rewrite /dimension_count /sum_of_minima -card_upper -/C.
  rewrite [leqRHS](bigID (fun k : 'I_C.+1 => first k)) /= big_distrr /=; apply: leq_add.
    rewrite (eq_bigl (fun k : 'I_C.+1 => first k)) => [|k]; last by rewrite -ltnS ltn_ord.
    by apply: leq_sum => k fk; rewrite leq_min leqnn.
  rewrite (reindex_inj rev_ord_inj) /= (eq_bigl (fun k : 'I_C.+1 => ~~ first k)) => [|k].
    by apply: leq_sum => k fk; rewrite subSS leq_min leqnn andbT ltnW // ltnNge.
  by rewrite subSS leq_subr subKn // -ltnS.
- by move=> k /andP[].
- by move=> k /andP[].
move=> e m me; set k := left_degree _ m; set l := left_degree _ m.
have klC : (k + l <= C)%N.
  by rewrite /k /l left_degreeC; have /allP/(_ m me) := sides_matrix_bounded layers p e.
have [kC lC] : (k <= C)%N /\ (l <= C)%N by split; lia.
rewrite kC lC /=; case fk: (first k) => //=; apply: contraFN fk => fl.
by apply: crossing_down fl => //; lia.
Qed.

End Halves.

Section Upper.
Variables (R : comRingType) (d a n : nat) (residual : bool) (layers : seq (seq (head R d a))).
Variables (i : 'I_n) (p : 'I_d) (A : {set 'I_n}).
Local Notation L := (size layers).

(* Claim: separation_rank/dimension_count.
   Every output coordinate is a sum of S(d, L) products of a function of the tokens on the side A
   and a function of the others. For all weights, over every commutative ring, for every width,
   depth, number of heads and tokens, for every set A of positions, with or without residual
   connections. Nothing of the claim is informal. *)
Theorem separation_rank_count :
  sep_le (output_sides residual layers i p A) (dimension_count d L).
Proof.
have d0 : (0 < d)%N by apply: leq_trans (ltn_ord p).
have := @low_rank_count R d a n d residual 1%:M layers i p A d0.
apply: eq_sep_le => x z; apply: (congr1 (fun v : 'cV_d => v p 0)); apply: eq_net => j.
by rewrite /two_sides; case: ifP; rewrite mul1mx.
Qed.

(* Claim: separation_rank/vocabulary_bottleneck, its upper half: sep <= S(min(d, r), L) for tokens
   E w, for all E and weights. That almost all attain it, the claim measures. *)
Theorem separation_rank_low_rank r (E : 'M[R]_(d, r)) : (0 < r)%N ->
  sep_le (fun x z => output_sides residual layers i p A (fun j => E *m x j) (fun j => E *m z j))
    (dimension_count (minn d r) L).
Proof.
move=> r0; case: (leqP d r) => dr; last exact: low_rank_count.
exact: (sep_le_comp (fun x j => E *m x j) (fun z j => E *m z j) separation_rank_count).
Qed.

(* Claim: separation_rank/upper_bound_shallow.
   Theorem 1's upper bound (d + H)^C, here for all weights in place of almost all, at every depth in
   place of those below log_3 d, and for every H >= 1, whatever the number of heads. *)
Theorem separation_rank_theorem_1 H : (0 < H)%N ->
  sep_le (output_sides residual layers i p A) ((d + H) ^ moment_degree L).
Proof.
move=> H0; apply: sep_le_mono separation_rank_count.
apply: leq_trans (count_upper_theorem_1 _ _) _; first exact: leq_trans (ltn_ord p).
by apply: leq_pow; lia.
Qed.

End Upper.

(* --- one token a side ------------------------------------------------------------------------- *)
Section Exponents.
Variables (R : comRingType) (d a n : nat) (residual : bool) (layers : seq (seq (head R d a))).
Variables (i : 'I_n) (p : 'I_d) (A : {set 'I_n}).
Local Notation C := (moment_degree (size layers)).

Definition entries_of (B : {set 'I_n}) : {set 'I_(n * d)} :=
  [set mxvec_index jq.1 jq.2 | jq in setX B [set: 'I_d]].

Lemma mxvec_pair_inj : injective (fun jq : 'I_n * 'I_d => mxvec_index jq.1 jq.2).
Proof.
by move=> [j q] [k s] /eqP /=; rewrite mxvec_index_eq => /andP[/eqP-> /eqP->].
Qed.

Lemma card_entries_of B : #|entries_of B| = (#|B| * d)%N.
Proof. by rewrite card_imset ?cardsX ?cardsT ?card_ord //; apply: mxvec_pair_inj. Qed.

Lemma in_entries_of B j q : (mxvec_index j q \in entries_of B) = (j \in B).
Proof.
apply/imsetP/idP => [[[k s] /=]|jB]; last by exists (j, q) => //; rewrite !inE jB.
by rewrite !inE andbT => kB /eqP; rewrite mxvec_index_eq => /andP[/eqP-> _].
Qed.

Lemma entries_ofC B : ~: entries_of B = entries_of (~: B).
Proof. by apply/setP => k; case/mxvec_indexP: k => j q; rewrite inE !in_entries_of inE. Qed.

Lemma left_degree_entries B m : left_degree (entries_of B) m = side_degree B m.
Proof.
rewrite /left_degree /entries_of big_imset /=; last by move=> s t _ _; apply: mxvec_pair_inj.
rewrite /side_degree /token_degree pair_big_dep /=.
by apply: eq_bigl => jq; rewrite !inE.
Qed.

(* Counting exponents: the degree in the side that is read is odd, in the other side even, and the
   smaller of both is at most C. So the rank is at most the number of monomials of odd degree up to
   C in the entries of the one side and of even degree up to C in those of the other. *)
Theorem exponents_count : i \in A ->
  sep_le (output_sides residual layers i p A)
    (\sum_(m < C.+1) monomials (#|if odd m then A else ~: A| * d) m).
Proof.
move=> iA; pose g k (x : 'I_n -> 'cV[R]_d) := mxvec (\matrix_(j, q) x j q 0) 0 k.
have := @sep_le_degrees R ('I_n -> 'cV[R]_d) ('I_n -> 'cV[R]_d) (n * d) C (entries_of A)
  (unit : finType) (fun _ _ => 1) (fun=> output_poly residual layers i p) g g
  (fun k => (k <= C)%N && odd k) (fun l => (l <= C)%N && ~~ odd l).
rewrite entries_ofC !card_entries_of card_unit mul1n => /(_ _ _ _).
move=> H; apply: (eq_sep_le (F := fun x z => \sum_(e : unit) 1 *
    (output_poly residual layers i p).@[fun k => if k \in entries_of A then g k x else g k z])).
  move=> x z; rewrite (big_pred1 tt) => [|[]] //; rewrite mul1r /output_sides -output_poly_value.
  rewrite !mevalE; apply: eq_bigr => m _; congr (_ * _); apply: eq_bigr => k _; congr (_ ^+ _).
  case/mxvec_indexP: k => j q; rewrite in_entries_of /g !mxvecE !mxE /two_sides.
  by case: ifP.
apply: (sep_le_mono _ (H _ _ _)).
- rewrite [leqRHS](bigID (fun m : 'I_C.+1 => odd m)) /=; apply: leq_add.
    rewrite (eq_bigl (fun k : 'I_C.+1 => odd k)) => [|k]; last by rewrite -ltnS ltn_ord.
    by apply: leq_sum => k ->.
  rewrite (eq_bigl (fun k : 'I_C.+1 => ~~ odd k)) => [|k]; last by rewrite -ltnS ltn_ord.
  by apply: leq_sum => k /negbTE->.
- by move=> k /andP[].
- by move=> k /andP[].
move=> _ m mo; rewrite !left_degree_entries.
have [om le] := degree_residual mo; have := side_degreeC A m => eq.
have ev : ~~ odd (side_degree (~: A) m).
  rewrite /side_degree; elim/big_ind: _ => // [u v|j].
    by rewrite oddD => /negbTE-> /negbTE->.
  by rewrite inE => jA; rewrite (token_parity mo); apply: contra jA => /eqP->.
have od : odd (side_degree A m) by move: om; rewrite -eq oddD (negbTE ev) addbF.
rewrite od ev !andbT; apply/orP; move: le; rewrite -eq -double_moment_degree; clear.
by case: (leqP (side_degree A m) C) => [|lt le]; [left|right; lia].
Qed.

End Exponents.

(* Claim: separation_rank/two_tokens_upper.
   With one token on each side the separation rank is at most binom(d + C, C). For all weights,
   every width, depth and number of heads, with or without residual connections. *)
Theorem two_tokens_upper (R : comRingType) d a residual (layers : seq (seq (head R d a)))
    (i : 'I_2) (p : 'I_d) (A : {set 'I_2}) : #|A| = 1%N ->
  sep_le (output_sides residual layers i p A)
    'C(d + moment_degree (size layers), moment_degree (size layers)).
Proof.
move=> A1; have d0 : (0 < d)%N by apply: leq_trans (ltn_ord p).
have C1 : #|~: A| = 1%N by have := cardsC A; rewrite A1 card_ord => -[].
wlog iA : A A1 C1 / i \in A.
  move=> H; have [/H //|iA] := boolP (i \in A); first exact.
  have /H/sep_leC : i \in ~: A by rewrite inE.
  by rewrite setCK => /(_ C1 A1); apply: eq_sep_le => x z; rewrite output_sidesC.
apply: sep_le_mono (exponents_count residual layers p iA).
rewrite -hockey_stick //; apply: leq_sum => m _.
by case: ifP => _; rewrite ?A1 ?C1 mul1n.
Qed.


(* --- lower bounds ----------------------------------------------------------------------------- *)

Section Minors.
Variables (R : comRingType) (A B : Type) (F : A -> B -> R).

Lemma det_product_small r m (G : 'M[R]_(m, r)) (H : 'M_(r, m)) : (r < m)%N -> \det (G *m H) = 0.
Proof.
move=> rm; have [s ms] : exists s, m = (r + s.+1)%N by exists (m - r).-1; lia.
subst m; have -> : G *m H = row_mx G (0 : 'M_(r + s.+1, s.+1)) *m col_mx H 0.
  by rewrite mul_row_col mul0mx addr0.
rewrite det_mulmx (expand_det_col _ (rshift r ord0)) big1 ?mul0r // => k _.
by rewrite row_mxEr mxE mul0r.
Qed.

(* A minor of values that is not zero bounds the separation rank from below, over every commutative
   ring. *)
Theorem minor_bound m (a : 'I_m -> A) (b : 'I_m -> B) r :
  \det (value_matrix F a b) != 0 -> sep_le F r -> (m <= r)%N.
Proof.
move=> nz [g [h E]]; rewrite leqNgt; apply: contra nz => rm.
have -> : value_matrix F a b = (\matrix_(s, k) g k (a s)) *m (\matrix_(k, t) h k (b t)).
  by apply/matrixP => s t; rewrite !mxE E; apply: eq_bigr => k _; rewrite !mxE.
by rewrite det_product_small.
Qed.

(* So does a minor that is not zero after a ring morphism, such as reduction modulo p. *)
Theorem minor_bound_image (S : comRingType) (f : {rmorphism R -> S}) m
    (a : 'I_m -> A) (b : 'I_m -> B) r :
  \det (map_mx f (value_matrix F a b)) != 0 -> sep_le F r -> (m <= r)%N.
Proof.
move=> nz; apply: (@minor_bound m a b); apply: contra nz => /eqP z.
by rewrite det_map_mx z rmorph0.
Qed.

End Minors.

Section Fields.
Variables (K : fieldType).

(* Over a field no matrix of values has a rank larger than the separation rank. *)
Theorem sep_le_rank (A B : Type) (F : A -> B -> K) m n (a : 'I_m -> A) (b : 'I_n -> B) r :
  sep_le F r -> (\rank (\matrix_(s, t) F (a s) (b t)) <= r)%N.
Proof.
move=> [g [h E]].
have -> : \matrix_(s, t) F (a s) (b t) = (\matrix_(s, k) g k (a s)) *m (\matrix_(k, t) h k (b t)).
  by apply/matrixP => s t; rewrite !mxE E; apply: eq_bigr => k _; rewrite !mxE.
exact: mulmx_max_rank.
Qed.

(* On finite sets the separation rank is the rank of the matrix of all values. *)
Theorem sep_le_finite (A B : finType) (F : A -> B -> K) r :
  sep_le F r <-> (\rank (\matrix_(s < #|A|, t < #|B|) F (enum_val s) (enum_val t)) <= r)%N.
Proof.
set M := \matrix_(s, t) _; split; first exact: sep_le_rank.
move=> le; apply: sep_le_mono le _.
exists (fun k a => col_base M (enum_rank a) k), (fun k b => row_base M k (enum_rank b)) => a b.
have : M (enum_rank a) (enum_rank b) = F a b by rewrite mxE !enum_rankK.
by move<-; rewrite -{1}(mulmx_base M) mxE.
Qed.

(* A minor that is not zero, and whose borders by one more argument on each side all vanish: the
   separation rank is its size. *)
Theorem sep_rank_minors (A B : Type) (F : A -> B -> K) m (a : 'I_m -> A) (b : 'I_m -> B) :
  \det (value_matrix F a b) != 0 ->
  (forall x y, \det (block_mx (value_matrix F a b) (\col_s F (a s) y)
                              (\row_t F x (b t)) (F x y)%:M) = 0) ->
  sep_rank F m.
Proof.
set M := value_matrix F a b => nz border; split; last by move=> r; apply: minor_bound nz.
have uM : M \in unitmx by rewrite unitmxE unitfE.
exists (fun k x => F x (b k)), (fun k y => (invmx M *m \col_s F (a s) y) k 0) => x y.
have /eqP := border x y; set c := \col_s _; set u := \row_t _.
have -> : block_mx M c u (F x y)%:M =
    block_mx 1%:M 0 (u *m invmx M) 1%:M *m block_mx M c 0 ((F x y)%:M - u *m invmx M *m c).
  rewrite mulmx_block !mul1mx !mul0mx !addr0 mulmxKV //.
  by congr block_mx; rewrite addrC subrK.
rewrite det_mulmx det_lblock !det1 !mul1r det_ublock mulf_eq0 (negbTE nz) /= det_mx11.
rewrite -mulmxA mxE [X in X + _]mxE [X in _ + X]mxE eqxx mulr1n subr_eq0 => /eqP ->; rewrite mxE.
by apply: eq_bigr => k _; rewrite mxE.
Qed.

End Fields.

(* --- one choice of weights bounds almost all -------------------------------------------------- *)
Lemma output_sides_image (R S : comRingType) (f : {rmorphism R -> S}) d a n residual
    (layers : seq (seq (head R d a))) (i : 'I_n) p A x z :
  f (output_sides residual layers i p A x z) =
  output_sides residual (net_map f layers) i p A
    (fun j => map_mx f (x j)) (fun j => map_mx f (z j)).
Proof.
have /matrixP/(_ p 0) := net_image f residual layers (two_sides A x z) i.
rewrite mxE => ->; apply: (congr1 (fun v : 'cV_d => v p 0)); apply: eq_net => j.
by rewrite /two_sides; case: ifP.
Qed.

Section Witness.
Variables (L H a d n m : nat) (residual : bool) (i : 'I_n) (p : 'I_d) (A : {set 'I_n}).
Local Notation weights R := (weight_name L H a d -> R).

Definition output_at (R : comRingType) (w : weights R) := output_sides residual (net_of w) i p A.

Lemma weight_minor (R : comRingType) (X Z : 'I_m -> 'I_n -> 'cV[R]_d) :
  exists G : {mpoly R[#|weight_name L H a d|]}, forall w : weights R,
    G.@[fun k => w (enum_val k)] = \det (value_matrix (output_at w) X Z).
Proof.
pose V (t : weight_name L H a d) : {mpoly R[#|weight_name L H a d|]} := 'X_(enum_rank t).
pose c (y : 'I_m -> 'I_n -> 'cV[R]_d) s j := map_mx (@mpolyC _ R : {rmorphism _ -> _}) (y s j).
exists (\det (value_matrix (output_at V) (c #|weight_name L H a d| X) (c _ Z))) => w.
rewrite -det_map_mx; congr (\det _); apply/matrixP => s t; rewrite !mxE /=.
rewrite /output_at (output_sides_image (meval (fun k => w (enum_val k)) : {rmorphism _ -> _})).
rewrite net_of_map (@eq_net_of _ _ _ _ _ _ w) => [|k]; last by rewrite /= mevalXU enum_rankK.
apply: (congr1 (fun v : 'cV_d => v p 0)); apply: eq_net => j; rewrite /two_sides.
by case: ifP => _; apply/matrixP => q u; rewrite !mxE /= mevalC.
Qed.

(* A minor that is not zero at one choice of weights bounds the separation rank for almost all
   weights: wherever a polynomial in the weights, which is not zero, does not vanish. (What the
   claim separation_rank/one_witness says of shares of weights is not formal.) *)
Theorem one_witness (R : comRingType) (X Z : 'I_m -> 'I_n -> 'cV[R]_d) (w0 : weights R) :
  \det (value_matrix (output_at w0) X Z) != 0 ->
  exists2 G : {mpoly R[#|weight_name L H a d|]}, G != 0 &
    forall w : weights R, G.@[fun k => w (enum_val k)] != 0 ->
      forall r, sep_le (output_at w) r -> (m <= r)%N.
Proof.
move=> nz; have [G GE] := weight_minor X Z; exists G.
  by apply: contra nz => /eqP z; rewrite -GE z meval0.
by move=> w; rewrite GE => nzw r; apply: minor_bound nzw.
Qed.

Lemma minor_image (T : comRingType) (X Z : 'I_m -> 'I_n -> 'cV[int]_d) (w0 : weights int) :
  \det (value_matrix (output_at (fun t => (w0 t)%:~R : T))
    (fun s j => map_mx intr (X s j)) (fun t j => map_mx intr (Z t j))) =
  (\det (value_matrix (output_at w0) X Z))%:~R.
Proof.
rewrite -(det_map_mx (intr : {rmorphism _ -> _})); congr (\det _); apply/matrixP => s t.
by rewrite !mxE /output_at (output_sides_image (intr : {rmorphism _ -> _})) net_of_map.
Qed.

(* Certificates modulo p: whole weights and tokens whose minor is not zero in any commutative ring,
   such as F_p, bound the separation rank for almost all weights over every ring of characteristic
   0, such as the reals. *)
Theorem modular_certificate (S : comRingType) (X Z : 'I_m -> 'I_n -> 'cV[int]_d)
    (w0 : weights int) :
  \det (value_matrix (output_at (fun t => (w0 t)%:~R : S))
    (fun s j => map_mx intr (X s j)) (fun t j => map_mx intr (Z t j))) != 0 ->
  forall R : comRingType, (forall k, (0 < k)%N -> k%:R != 0 :> R) ->
  exists2 G : {mpoly R[#|weight_name L H a d|]}, G != 0 &
    forall w : weights R, G.@[fun k => w (enum_val k)] != 0 ->
      forall r, sep_le (output_at w) r -> (m <= r)%N.
Proof.
move=> nz R char0; apply: (@one_witness R (fun s j => map_mx intr (X s j))
  (fun t j => map_mx intr (Z t j)) (fun t => (w0 t)%:~R)).
have {}nz : (\det (value_matrix (output_at w0) X Z))%:~R != 0 :> S by rewrite -minor_image.
rewrite minor_image; move: nz; case: (\det _) => [[|k]|k]; rewrite ?mulr0z ?eqxx // => _.
  exact: char0.
by rewrite NegzE rmorphN oppr_eq0; apply: char0.
Qed.

(* Where the minor has the size of S(d, L), that is the separation rank of almost all weights. *)
Theorem certificate_exact (S : comRingType) (X Z : 'I_m -> 'I_n -> 'cV[int]_d)
    (w0 : weights int) :
  \det (value_matrix (output_at (fun t => (w0 t)%:~R : S))
    (fun s j => map_mx intr (X s j)) (fun t j => map_mx intr (Z t j))) != 0 ->
  m = dimension_count d L ->
  forall R : comRingType, (forall k, (0 < k)%N -> k%:R != 0 :> R) ->
  exists2 G : {mpoly R[#|weight_name L H a d|]}, G != 0 &
    forall w : weights R, G.@[fun k => w (enum_val k)] != 0 ->
      sep_rank (output_at w) (dimension_count d L).
Proof.
move=> nz mS R char0; have [G G0 GE] := modular_certificate nz char0; exists G => // w /GE lower.
split; last by rewrite -mS.
by have := separation_rank_count residual (net_of w) i p A; rewrite size_net_of.
Qed.

End Witness.

(* --- what a net must have to compute a function ----------------------------------------------- *)

(* A function with a minor of size m that is not zero is an output coordinate only of nets with
   S(d, L) >= m, however its two arguments are written into the tokens of the two sides. *)
Theorem minor_needs_count (R : comRingType) (X Y : Type) (F : X -> Y -> R) m
    (x : 'I_m -> X) (y : 'I_m -> Y) d a n residual (layers : seq (seq (head R d a)))
    (i : 'I_n) p A (f : X -> 'I_n -> 'cV[R]_d) (g : Y -> 'I_n -> 'cV[R]_d) :
  \det (value_matrix F x y) != 0 ->
  (forall x y, F x y = output_sides residual layers i p A (f x) (g y)) ->
  (m <= dimension_count d (size layers))%N.
Proof.
move=> nz FE; apply: minor_bound nz _; apply: (eq_sep_le (fun x y => esym (FE x y))).
exact/sep_le_comp/separation_rank_count.
Qed.

(* To tell whether two arguments of m values are equal, it takes S(d, L) >= m. *)
Theorem equality_needs_count (R : comRingType) m d a n residual (layers : seq (seq (head R d a)))
    (i : 'I_n) p A (f g : 'I_m -> 'I_n -> 'cV[R]_d) :
  (forall x y, (x == y)%:R = output_sides residual layers i p A (f x) (g y)) ->
  (m <= dimension_count d (size layers))%N.
Proof.
apply: (@minor_needs_count R _ _ (fun x y => (x == y)%:R) m id id).
have -> : value_matrix (fun x y => (x == y)%:R) id id = 1%:M :> 'M[R]_m.
  by apply/matrixP => s t; rewrite !mxE.
by rewrite det1 oner_neq0.
Qed.

(* --- depth 1 is exact ------------------------------------------------------------------------- *)
Section DepthOne.
Variables (R : comRingType) (H a n : nat) (residual : bool).
Variables (i j : 'I_n) (p : 'I_(H * a)) (A : {set 'I_n}).
Hypotheses (iA : i \in A) (jA : j \notin A).
Local Notation d := (H * a)%N.

(* Queries and keys copy the entries, a block for each head; each head reads and writes entry p. *)
Definition blocks (a0 : 'I_a) (t : weight_name 1 H a d) : R :=
  let: (l, h, s, k, q) := t in
  if (s < 2)%N then (q == mxvec_index h k)%:R else ((k == a0) && (q == p))%:R.

Lemma blocks_output a0 (y : 'I_n -> 'cV[R]_d) :
  net residual (net_of (blocks a0)) y i p 0 =
  residual%:R * y i p 0 + \sum_k dot (y i) (y k) * y k p 0.
Proof.
have -> : net_of (blocks a0) = [:: layer_of (blocks a0) ord0].
  rewrite /net_of; have := size_enum_ord 1.
  by case: (enum _) => [|l [|]] //= _; rewrite ord1.
rewrite /= /layer mxE; congr (_ + _).
  by case: residual; rewrite ?mul1r // mxE mul0r.
rewrite big_map big_enum summxE.
transitivity (\sum_(h < H) \sum_k (\sum_e y i (mxvec_index h e) 0 * y k (mxvec_index h e) 0) *
    y k p 0).
  apply: eq_bigr => h _; rewrite /attend /= mxE (bigD1 a0) //=.
  rewrite [X in _ + X]big1 => [|k ka]; last first.
    by rewrite mxE /= inordK //= (negbTE ka) mul0r.
  rewrite mxE /= inordK //= !eqxx mul1r addr0 summxE; apply: eq_bigr => k _; rewrite mxE.
  congr (_ * _).
    rewrite /dot; apply: eq_bigr => e _; congr (_ * _); rewrite mxE.
      rewrite (bigD1 (mxvec_index h e)) //= big1 => [|q qe]; rewrite mxE inordK //=; last first.
        by rewrite (negbTE qe) mul0r.
      by rewrite eqxx mul1r addr0.
    rewrite (bigD1 (mxvec_index h e)) //= big1 => [|q qe]; rewrite mxE inordK //=; last first.
      by rewrite (negbTE qe) mul0r.
    by rewrite eqxx mul1r addr0.
  rewrite mxE (bigD1 p) //= big1 => [|q qp]; rewrite mxE inordK //=; last first.
    by rewrite (negbTE qp) andbF mul0r.
  by rewrite !eqxx mul1r addr0.
rewrite exchange_big /=; apply: eq_bigr => k _; rewrite -mulr_suml; congr (_ * _).
rewrite /dot [RHS](reindex _ (curry_mxvec_bij _ _)) /= pair_bigA /=.
by apply: eq_bigr => -[h e].
Qed.

(* Tokens that are zero but at k. *)
Definition only (k : 'I_n) (u : 'cV[R]_d) (l : 'I_n) : 'cV[R]_d := if l == k then u else 0.

Lemma blocks_only a0 x z : output_sides residual (net_of (blocks a0)) i p A (only i x) (only j z) =
  residual%:R * x p 0 + (dot x x * x p 0 + dot x z * z p 0).
Proof.
have ji : j != i by apply: contraNneq jA => ->.
rewrite /output_sides blocks_output {1 2}/two_sides iA {1 2}/only eqxx; congr (_ + _).
rewrite (bigD1 i) //= (bigD1 j) //= big1 => [|k /andP[ki kj]].
  by rewrite /two_sides iA (negbTE jA) /only !eqxx addr0.
rewrite /two_sides /only (negbTE ki) (negbTE kj).
by case: ifP => _; rewrite mxE mulr0.
Qed.

Definition unit_token (q : 'I_d) : 'cV[R]_d := \col_k (k == q)%:R.

Lemma dot_unit q v : dot (unit_token q) v = v q 0.
Proof.
rewrite /dot (bigD1 q) //= big1 => [|k kq]; rewrite mxE ?eqxx ?mul1r ?addr0 //.
by rewrite (negbTE kq) mul0r.
Qed.

Lemma dot_scale c (u v : 'cV[R]_d) : dot (c *: u) v = c * dot u v.
Proof. by rewrite /dot mulr_sumr; apply: eq_bigr => k _; rewrite mxE mulrA. Qed.

Definition left_point (s : 'I_(d.-1 + 2)) : 'cV[R]_d :=
  match split s with inl q => unit_token (fintype.lift p q) | inr b => b.+1%:R *: unit_token p end.
Definition right_point (t : 'I_(d.-1 + 2)) : 'cV[R]_d :=
  match split t with
  | inl q => unit_token p + unit_token (fintype.lift p q)
  | inr b => b%:R *: unit_token p
  end.

Lemma depth_1_minor a0 : \det (value_matrix (output_at residual i p A (blocks a0))
  (fun s => only i (left_point s)) (fun t => only j (right_point t))) = - 6%:R.
Proof.
set V := value_matrix _ _ _.
have E s t : V s t = residual%:R * left_point s p 0 +
  (dot (left_point s) (left_point s) * left_point s p 0 +
   dot (left_point s) (right_point t) * right_point t p 0) by rewrite mxE /output_at blocks_only.
clearbody V; rewrite -[V]submxK.
have lp q : (p == fintype.lift p q) = false by apply/negbTE/neq_lift.
have pl q : (fintype.lift p q == p) = false by rewrite eq_sym.
have -> : ursubmx V = 0.
  apply/matrixP => s t; rewrite !mxE E /left_point /right_point.
  rewrite (unsplitK (inl _)) (unsplitK (inr _)) !dot_unit !mxE ?lp ?pl.
  by rewrite !mulr0 mul0r !addr0.
have -> : ulsubmx V = 1%:M.
  apply/matrixP => s t; rewrite !mxE E /left_point /right_point.
  rewrite !(unsplitK (inl _)) !dot_unit !mxE !eqxx ?lp ?pl (inj_eq (@lift_inj _ p)).
  by rewrite ?(mulr0, add0r, addr0, mulr1).
rewrite det_lblock det1 mul1r.
rewrite (expand_det_row _ 0) !big_ord_recl big_ord0 /cofactor !det_mx11 !mxE !E.
rewrite /left_point /right_point !(unsplitK (inr _)) !dot_scale !dot_unit !mxE !eqxx /=.
rewrite ?dot_unit ?dot_scale ?mxE ?eqxx /= /bump /=.
by ring.
Qed.

(* Depth 1: for almost all weights the separation rank is d + 1 exactly, which is S(d, 1), Theorem
   1's bound (d + H)^C for one head, and binom(d + C, C). For every width d = H a of H heads of
   width a, any number of tokens, and any two sides that are not empty, the position read in A. *)
Theorem depth_1_almost_every : 6%:R != 0 :> R ->
  exists2 G : {mpoly R[#|weight_name 1 H a d|]}, G != 0 &
    forall w : weight_name 1 H a d -> R, G.@[fun k => w (enum_val k)] != 0 ->
      sep_rank (output_sides residual (net_of w) i p A) d.+1.
Proof.
move=> nz6; have d0 : (0 < d)%N := leq_trans (ltn0Sn _) (ltn_ord p).
have [a0] : exists a0 : 'I_a, true by case: a p => [|b] p'; [case: p' => q; rewrite muln0|exists 0].
have /one_witness : \det (value_matrix (output_at residual i p A (blocks a0))
  (fun s => only i (left_point s)) (fun t => only j (right_point t))) != 0.
  by rewrite depth_1_minor oppr_eq0.
rewrite addn2 prednK // => -[G G0 GE] _; exists G => // w /GE lower; split=> //.
have := separation_rank_count residual (net_of w) i p A.
by rewrite size_net_of count_depth_1.
Qed.

(* And one layer of width d tells whether two of d - 1 values are equal. *)
Lemma equality_attained a0 (q t : 'I_d.-1) : residual = false ->
  output_sides residual (net_of (blocks a0)) i p A (only i (unit_token (fintype.lift p q)))
    (only j (unit_token p + unit_token (fintype.lift p t))) = (q == t)%:R.
Proof.
have lp s : (p == fintype.lift p s) = false by apply/negbTE/neq_lift.
have pl s : (fintype.lift p s == p) = false by rewrite eq_sym.
move=> res; rewrite blocks_only !dot_unit !mxE !eqxx ?lp ?pl (inj_eq (@lift_inj _ p)) res.
by rewrite ?(mul0r, mulr0, add0r, addr0, mulr1).
Qed.

(* So none of the three bounds may be less by one there; d is Theorem 1's d^C, without its term that
   does not cross. *)
Lemma depth_1_not_d a0 : 6%:R != 0 :> R ->
  ~ sep_le (output_sides residual (net_of (blocks a0)) i p A) d.
Proof.
move=> nz6; have d0 : (0 < d)%N := leq_trans (ltn0Sn _) (ltn_ord p).
have nz : \det (value_matrix (output_at residual i p A (blocks a0))
  (fun s => only i (left_point s)) (fun t => only j (right_point t))) != 0.
  by rewrite depth_1_minor oppr_eq0.
by move=> /(minor_bound nz); rewrite addn2 prednK // ltnn.
Qed.

End DepthOne.

(* --- values ----------------------------------------------------------------------------------- *)

Definition theorem_1_value (d L H : N) : N := ((d + H) ^ moment_degree_value L)%num.

Definition two_tokens_value (d L : N) : N := stick_value (moment_degree_value L) d.

Lemma theorem_1_valueE d L H :
  theorem_1_value (bin_of_nat d) (bin_of_nat L) (bin_of_nat H) =
  bin_of_nat ((d + H) ^ moment_degree L).
Proof.
rewrite /theorem_1_value moment_degree_valueE !bin_of_natE -Nnat.Nat2N.inj_add.
rewrite -[Nat.add d H]/(d + H)%N; move: (d + H)%N (moment_degree L) => b; elim=> // C IH.
by rewrite Nnat.Nat2N.inj_succ N.pow_succ_r' IH -Nnat.Nat2N.inj_mul expnS.
Qed.

Lemma two_tokens_valueE d L :
  two_tokens_value (bin_of_nat d) (bin_of_nat L) =
  bin_of_nat 'C(d + moment_degree L, moment_degree L).
Proof.
by rewrite /two_tokens_value moment_degree_valueE !bin_of_natE stick_valueE addnC.
Qed.

(* The same bounds with the terms that are compared with the claims. *)
Section Checked.
Variables (R : comRingType) (d a n : nat) (residual : bool) (layers : seq (seq (head R d a))).
Variables (i : 'I_n) (p : 'I_d) (A : {set 'I_n}).
Local Notation L := (bin_of_nat (size layers)).

(* Claim: separation_rank/dimension_count. Every output coordinate is a sum of S(d, L) products of a
   function of the one side and a function of the other. *)
Theorem dimension_count_checked :
  sep_le (output_sides residual layers i p A) (nat_of_bin (S_value (bin_of_nat d) L)).
Proof.
rewrite S_valueE ?bin_of_natK; first exact: separation_rank_count.
exact: leq_trans (ltn_ord p).
Qed.

(* Claim: separation_rank/upper_bound_shallow. Every output coordinate is a sum of (d + H)^C such
   products, for every H >= 1. *)
Theorem theorem_1_checked H : (0 < H)%N ->
  sep_le (output_sides residual layers i p A)
    (nat_of_bin (theorem_1_value (bin_of_nat d) L (bin_of_nat H))).
Proof. by rewrite theorem_1_valueE bin_of_natK; apply: separation_rank_theorem_1. Qed.

End Checked.

(* Claim: separation_rank/two_tokens_upper. With one token on each side every output coordinate is a
   sum of binom(d + C, C) such products. *)
Theorem two_tokens_checked (R : comRingType) d a residual (layers : seq (seq (head R d a)))
    (i : 'I_2) (p : 'I_d) (A : {set 'I_2}) : #|A| = 1%N ->
  sep_le (output_sides residual layers i p A)
    (nat_of_bin (two_tokens_value (bin_of_nat d) (bin_of_nat (size layers)))).
Proof. by move=> A1; rewrite two_tokens_valueE bin_of_natK; apply: two_tokens_upper. Qed.

(* --- examples --------------------------------------------------------------------------------- *)

Example values : (theorem_1_value 10 2 1, two_tokens_value 2 2) = (14641, 15)%num.
Proof. by vm_compute. Qed.

(* A certificate: the minor of depth 1 modulo 5, where it is -6 = 4, gives the rank over any ring of
   characteristic 0. *)
Example certificate_example (R : comRingType) H a n residual (i j : 'I_n) (p : 'I_(H * a))
    (a0 : 'I_a) (A : {set 'I_n}) :
  (forall k, (0 < k)%N -> k%:R != 0 :> R) -> i \in A -> j \notin A ->
  exists2 G : {mpoly R[#|weight_name 1 H a (H * a)|]}, G != 0 &
    forall w : weight_name 1 H a (H * a) -> R, G.@[fun k => w (enum_val k)] != 0 ->
      sep_rank (output_at residual i p A w) (dimension_count (H * a) 1).
Proof.
move=> char0 iA jA; have d0 : (0 < H * a)%N := leq_trans (ltn0Sn _) (ltn_ord p).
apply: (@certificate_exact 1 H a (H * a) n _ residual i p A ('F_5 : comRingType)
  (fun s => only i (left_point (int : comRingType) p s))
  (fun t => only j (right_point (int : comRingType) p t))
  (blocks (int : comRingType) p a0)) char0.
  by rewrite minor_image depth_1_minor.
by rewrite count_depth_1 // addn2 prednK.
Qed.

(* Equality of 19 values is no output coordinate of two layers of width 2. *)
Example equality_19 n a residual (layers : seq (seq (head (int : comRingType) 2 a)))
    (i : 'I_n) p A (f g : 'I_19 -> 'I_n -> 'cV[int]_2) : size layers = 2%N ->
  ~ forall x y, (x == y)%:R = output_sides residual layers i p A (f x) (g y).
Proof.
by move=> L2 /equality_needs_count; rewrite L2 count_depth_2.
Qed.

(* One head of width 2 on two tokens of width 2, over the integers: exactly 3. *)
Example depth_1_example :
  exists2 G : {mpoly int[#|weight_name 1 1 2 2|]}, G != 0 &
    forall w : weight_name 1 1 2 2 -> int, G.@[fun k => w (enum_val k)] != 0 ->
      sep_rank (output_sides false (net_of w) (0 : 'I_2) (1 : 'I_2) [set 0]) 3.
Proof.
by apply: (@depth_1_almost_every _ 1 2 2 false 0 1 1 [set 0]); rewrite ?inE.
Qed.

(* Two heads of width 1, with residual connections, on four tokens, the last one read. *)
Example depth_1_example_4 :
  exists2 G : {mpoly int[#|weight_name 1 2 1 2|]}, G != 0 &
    forall w : weight_name 1 2 1 2 -> int, G.@[fun k => w (enum_val k)] != 0 ->
      sep_rank (output_sides true (net_of w) (3%:R : 'I_4) (0 : 'I_2) [set 2%:R; 3%:R]) 3.
Proof.
by apply: (@depth_1_almost_every _ 2 1 4 true 3%:R 0 0 [set 2%:R; 3%:R]); rewrite ?inE.
Qed.

(* (x + y)^2 has a minor of size 3, at 0, 1, 2, which is -8. *)
Definition square_of_sum (R : comRingType) (x y : R) : R := (x + y) ^+ 2.
Definition three_points (R : comRingType) (s : 'I_3) : R := s%:R.

Lemma square_minor (R : comRingType) :
  \det (value_matrix (@square_of_sum R) (@three_points R) (@three_points R)) = - 8%:R.
Proof.
do 3 rewrite !(expand_det_row _ ord0) !big_ord_recl !big_ord0 /cofactor.
rewrite !det_mx00 !mxE /square_of_sum /three_points /= /bump /=; ring.
Qed.

(* Its borders vanish: over the rational numbers the separation rank is 3. *)
Example square_rank : sep_rank (@square_of_sum (rat : comRingType)) 3.
Proof.
apply: (@sep_rank_minors _ _ _ _ 3 (@three_points _) (@three_points _)) => [|x y].
  by rewrite square_minor oppr_eq0.
pose left u : 'rV[rat]_3 := \row_k (if k == 0 then u ^+ 2 else if k == 1 then u *+ 2 else 1).
pose right u : 'cV[rat]_3 := \col_k (if k == 0 then 1 else if k == 1 then u else u ^+ 2).
have E u v : square_of_sum u v = (left u *m right v) 0 0.
  by rewrite !mxE !big_ord_recl big_ord0 !mxE /= /square_of_sum; ring.
pose G := col_mx (\matrix_s left (three_points _ s)) (left x).
pose H : 'M_(3, 3 + 1) := row_mx (\matrix_(k, t) right (three_points _ t) k 0) (right y).
have -> : block_mx (value_matrix (@square_of_sum _) (@three_points _) (@three_points _))
    (\col_s square_of_sum (three_points _ s) y) (\row_t square_of_sum x (three_points _ t))
    (square_of_sum x y)%:M = G *m H.
  by rewrite mul_col_row; congr block_mx; apply/matrixP => s t;
    rewrite !mxE ?ord1 E !mxE; apply: eq_bigr => k _; rewrite !mxE.
exact: det_product_small.
Qed.

(* So the matrix of the squares (s + t)^2 of any size has at most rank 3. *)
Example squares_rank n : (\rank (\matrix_(s < n, t < n) square_of_sum (s%:R : rat) t%:R) <= 3)%N.
Proof. exact: (sep_le_rank _ _ square_rank.1). Qed.

(* Over the integers no fewer than 3 products are enough: the minor is 2 modulo 5. *)
Example square_modulo_5 r : sep_le (@square_of_sum (int : comRingType)) r -> (3 <= r)%N.
Proof.
apply: (@minor_bound_image _ _ _ _ ('F_5 : comRingType) (intr : {rmorphism _ -> _}) 3
  (@three_points _) (@three_points _)).
by rewrite det_map_mx square_minor.
Qed.

(* To tell whether two arguments of three values are equal it takes three products. *)
Example equality_rank r : sep_le (fun x y : 'I_3 => (x == y)%:R : rat) r <-> (3 <= r)%N.
Proof.
rewrite sep_le_finite (_ : \matrix_(s, t) _ = 1%:M) ?mxrank1 ?card_ord //.
by apply/matrixP => s t; rewrite !mxE (inj_eq enum_val_inj).
Qed.

(* One layer of width 3 does it for two values, and its count is 4. *)
Example equality_2 : (2 <= dimension_count 3 1)%N.
Proof.
have minor : \det (value_matrix (fun x y : 'I_2 => (x == y)%:R : int) id id) != 0.
  by rewrite (_ : value_matrix _ _ _ = 1%:M) ?det1 //; apply/matrixP => s t; rewrite !mxE.
have iA : 0 \in [set 0 : 'I_2] by rewrite inE.
have jA : 1 \notin [set 0 : 'I_2] by rewrite inE.
have out q t := @equality_attained (int : comRingType) 1 3 2 false 0 1 1 _ iA jA 1 q t erefl.
by have := minor_needs_count minor (fun q t => esym (out q t)); rewrite size_net_of.
Qed.

(* Two layers of width 2: at most 81 products by Theorem 1 with one head, at most 15 with one token
   on each side. *)
Example two_layers_theorem_1 (R : comRingType) a n residual (layers : seq (seq (head R 2 a)))
    (i : 'I_n) p A : size layers = 2%N -> sep_le (output_sides residual layers i p A) 81.
Proof.
by move=> L2; have := @theorem_1_checked _ _ _ _ residual layers i p A 1 isT; rewrite L2.
Qed.
Example two_layers_two_tokens (R : comRingType) a residual (layers : seq (seq (head R 2 a)))
    (i : 'I_2) p : size layers = 2%N -> sep_le (output_sides residual layers i p [set 0]) 15.
Proof. by move=> L2; have := two_tokens_checked residual layers i p (cards1 0); rewrite L2. Qed.

(* Two layers of width 4 on a vocabulary of rank 2: at most 18 products. *)
Example two_layers_low_rank (R : comRingType) a n residual (layers : seq (seq (head R 4 a)))
    (i : 'I_n) p A (E : 'M_(4, 2)) : size layers = 2%N ->
  sep_le (fun x z => output_sides residual layers i p A (fun j => E *m x j) (fun j => E *m z j)) 18.
Proof.
move=> L2; have := @separation_rank_low_rank _ _ _ _ residual layers i p A 2 E isT.
by rewrite L2 count_depth_2.
Qed.
