(* Reach: L layers of X -> X X^T X on A + I see exactly as far as 3^L, and no weights of
   linearised attention (or non-negative ones of ReLU attention) decide connectivity farther. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra fingroup perm zify.
From Depthlaw Require Import Graph.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* One layer of ReLU attention (1/n) ReLU(h h^T) h whose output is appended to the stream h, a list
   of n x n blocks that starts as A + I alone. *)
Definition relu (R : realDomainType) (x : R) : R := Num.max 0 x.
Definition relu_layer (R : realFieldType) n (h : seq 'M[R]_n) : seq 'M[R]_n :=
  h ++ [seq (n%:R^-1 *: map_mx (@relu R) (\sum_(b <- h) b *m b^T)) *m b | b <- h].
Definition relu_stream (R : realFieldType) n (e : rel 'I_n) (L : nat) : seq 'M[R]_n :=
  iter L (@relu_layer R n) [:: with_loops R e].

(* Linearised or ReLU attention with any weights on n tokens. A layer from width w to width w' has
   a list of heads (Q, V), Q the product of query and key weights, V that of value and output
   weights, a matrix `skip` for the residual path, and a constant `shift` for each token, which may
   hold positions. *)
Record weights (R : ringType) (n w w' : nat) := Weights {
  heads : seq ('M[R]_w * 'M[R]_(w, w'));
  skip : 'M[R]_(w, w');
  shift : 'M[R]_(n, w')
}.

Definition attend (R : ringType) (phi : R -> R) n w w' (W : weights R n w w') (X : 'M[R]_(n, w)) :
  'M[R]_(n, w') :=
  \sum_(h <- heads W) map_mx phi (X *m h.1 *m X^T) *m X *m h.2 + X *m skip W + shift W.

(* A net has one `weights` for each layer, of any widths, and an affine embedding of A + I. *)
Record net (R : ringType) (n : nat) := Net {
  width : nat -> nat;
  layer : forall l, weights R n (width l) (width l.+1);
  embed : 'M[R]_(n, width 0);
  place : 'M[R]_(n, width 0)
}.

(* The state after L layers on the graph e; phi is the identity (linearised) or ReLU. *)
Fixpoint state (R : ringType) n (N : net R n) (phi : R -> R) (e : rel 'I_n) (L : nat) :
  'M[R]_(n, width N L) :=
  if L is l.+1 then attend phi (layer N l) (state N phi e l)
  else with_loops R e *m embed N + place N.

(* The net of identity weights is one of these nets. *)
Definition identity_net (R : ringType) n : net R n :=
  @Net R n (fun _ => n) (fun _ => Weights [:: (1%:M, 1%:M)] 0 0) 1%:M 0.

(* The appended stream is one of the nets for all weights: skip [I 0], head [0 cI]. Its width
   doubles in each layer, as in ye2025. *)
Fixpoint stream_width (n l : nat) : nat :=
  if l is l'.+1 then (stream_width n l' + stream_width n l')%N else n.
Definition appending (R : ringType) n (c : R) (W : forall l, 'M[R]_(stream_width n l)) : net R n :=
  @Net R n (stream_width n)
    (fun l => Weights [:: (W l, row_mx 0 c%:M)] (row_mx 1%:M 0) 0) 1%:M 0.

(* A matrix that adds up the 2^l blocks of that stream. *)
Fixpoint stacked (R : ringType) (n l : nat) : 'M[R]_(stream_width n l, n) :=
  if l is l'.+1 return 'M[R]_(stream_width n l, n) then col_mx (stacked R n l') (stacked R n l')
  else 1%:M.

(* Non-negative weights: no score is negative, so ReLU changes nothing. *)
Definition nonnegative (R : numDomainType) m k (X : 'M[R]_(m, k)) := forall i j, 0 <= X i j.
Definition nonnegative_net (R : numDomainType) n (N : net R n) :=
  [/\ nonnegative (embed N), nonnegative (place N)
    & forall l, [/\ forall h, h \in heads (layer N l) -> nonnegative h.1 /\ nonnegative h.2,
                    nonnegative (skip (layer N l)) & nonnegative (shift (layer N l))]].

(* C(i, k, j) = B(i, k) and B(k, j), then B(i, j) = or over k of C(i, k, j). *)
Definition doubling n (B : rel 'I_n) : rel 'I_n := fun i j => [exists k, B i k && B k j].
Definition doublings n (e : rel 'I_n) (t : nat) : rel 'I_n :=
  iter t (@doubling n) (fun i j => (i == j) || e i j).

(* The stream as polynomials in A: no score is negative, so ReLU does nothing, and the factor 1/n
   changes no sign. *)
Definition power_layer (R : ringType) (h : seq {poly R}) : seq {poly R} :=
  h ++ [seq (\sum_(b <- h) b * b) * b | b <- h].
Definition power_stream (R : ringType) (start : seq {poly R}) (L : nat) : seq {poly R} :=
  iter L (@power_layer R) start.
(* Some block has a positive coefficient of A^j. *)
Definition holds (R : numDomainType) (h : seq {poly R}) (j : nat) : bool :=
  has (fun b : {poly R} => 0 < b`_j) h.

(* Attention whose weights treat all vertices alike: the stream is k blocks of size n x n, and a
   layer mixes blocks by scalars. A head (q, v) has the scores sum_ab q_ab X_a X_b^T. *)
Record block_weights (R : ringType) (k k' : nat) := BlockWeights {
  block_heads : seq ('M[R]_k * 'M[R]_(k, k'));
  block_skip : 'M[R]_(k, k')
}.

Definition block_attend (R : ringType) (phi : R -> R) k k' (W : block_weights R k k') n
    (X : 'I_k -> 'M[R]_n) (j : 'I_k') : 'M[R]_n :=
  \sum_(h <- block_heads W)
     map_mx phi (\sum_a \sum_b h.1 a b *: (X a *m (X b)^T)) *m (\sum_a h.2 a j *: X a)
  + \sum_a block_skip W a j *: X a.

(* Block j of the stream starts as a_j (A + I) + b_j I. *)
Fixpoint block_state (R : ringType) (k : nat -> nat)
    (W : forall l, block_weights R (k l) (k l.+1)) (start : 'I_(k 0%N) -> R * R) (phi : R -> R)
    n (e : rel 'I_n) (L : nat) : 'I_(k L) -> 'M[R]_n :=
  if L is l.+1 then block_attend phi (W l) (@block_state R k W start phi n e l)
  else fun j => (start j).1 *: with_loops R e + (start j).2 *: 1%:M.
Arguments block_state {R k} W start phi {n} e L j.

(* ------------------------------------------------------------------------------------------- *)
(* Powers *)

Section Powers.
Variables (R : comRingType) (n : nat).
Implicit Types X Y : 'M[R]_n.

Lemma mpowD X a b : mpow X (a + b) = mpow X a *m mpow X b.
Proof. by elim: a => [|a IH]; rewrite ?mul1mx //= IH mulmxA. Qed.

Lemma tr_mpow X k : X^T = X -> (mpow X k)^T = mpow X k.
Proof.
move=> sX; elim: k => [|k IH] /=; first exact: trmx1.
by rewrite trmx_mul IH sX -[X in _ *m X]mulmx1 -(mpowD X k 1) addnC mpowD /= mulmx1.
Qed.

Lemma cube_mpow X k : X^T = X -> cube (mpow X k) = mpow X (3 * k).
Proof. by move=> sX; rewrite /cube tr_mpow // -!mpowD; congr (mpow X _); lia. Qed.

Lemma iter_cube X L : X^T = X -> iter L (@cube R n) X = mpow X (3 ^ L).
Proof. by move=> sX; elim: L => [|L IH]; rewrite /= ?mulmx1 // IH cube_mpow // expnS. Qed.

Lemma with_loops_sym (g : graph n) : (with_loops R g)^T = with_loops R g.
Proof. by apply/matrixP => u v; rewrite !mxE edge_sym eq_sym. Qed.

(* Claim: connectivity/reach (why the base is 3).
   For every graph, every number of layers and every commutative ring of entries, L layers of
   X -> X X^T X with X_0 = A + I give the matrix power (A + I)^(3^L). *)
Theorem cubing_power (g : graph n) L : cubing R g L = mpow (with_loops R g) (3 ^ L).
Proof. exact/iter_cube/with_loops_sym. Qed.

End Powers.

(* ------------------------------------------------------------------------------------------- *)
(* Supports *)

Section Supports.
Variables (R : numDomainType) (n : nat) (g : graph n).
Implicit Types X Y : 'M[R]_n.

(* Non-negative, and positive only within distance m. *)
Definition inside (m : nat) X := forall u v, 0 <= X u v /\ (0 < X u v -> near g m u v).
(* Non-negative, and positive exactly within distance m. *)
Definition exactly (m : nat) X := forall u v, 0 <= X u v /\ (0 < X u v) = near g m u v.

Lemma not_gt0_eq0 (x : R) : 0 <= x -> ~~ (0 < x) -> x = 0.
Proof. by move=> x0; rewrite lt_def x0 andbT negbK => /eqP. Qed.

Lemma exactly_inside m X : exactly m X -> inside m X.
Proof. by move=> sX u v; have [pX <-] := sX u v. Qed.

Lemma inside_leq a b X : (a <= b)%N -> inside a X -> inside b X.
Proof. by move=> ab sX u v; have [pX iX] := sX u v; split=> // /iX; exact: near_leq. Qed.

Lemma sum_gt0 (I : eqType) (r : seq I) (f : I -> R) :
  (forall i, 0 <= f i) -> (0 < \sum_(i <- r) f i) = has (fun i => 0 < f i) r.
Proof.
move=> f0; rewrite lt_def sumr_ge0 // andbT psumr_eq0 // -has_predC.
by apply: eq_has => i /=; rewrite lt_def f0 andbT.
Qed.

Lemma sum_ord_gt0 (f : 'I_n -> R) :
  (forall i, 0 <= f i) -> (0 < \sum_i f i) = [exists i, 0 < f i].
Proof.
move=> f0; rewrite sum_gt0 //; apply/hasP/existsP => [[i _]|[i fi]]; first by exists i.
by exists i; rewrite // mem_index_enum.
Qed.

Lemma exactly_mul a b X Y : exactly a X -> exactly b Y -> exactly (a + b) (X *m Y).
Proof.
move=> sX sY u v; rewrite mxE.
have f0 w : 0 <= X u w * Y w v by rewrite mulr_ge0 ?(sX _ _).1 ?(sY _ _).1.
split; first exact: sumr_ge0; rewrite sum_ord_gt0 // near_cat.
by apply: eq_existsb => w; rewrite mulr_ge0_gt0 ?(sX _ _).1 ?(sY _ _).1 // (sX _ _).2 (sY _ _).2.
Qed.

Lemma inside_mul a b X Y : inside a X -> inside b Y -> inside (a + b) (X *m Y).
Proof.
move=> sX sY u v; rewrite mxE.
have f0 w : 0 <= X u w * Y w v by rewrite mulr_ge0 ?(sX _ _).1 ?(sY _ _).1.
split; first exact: sumr_ge0; rewrite sum_ord_gt0 // near_cat => /existsP[w xy].
apply/existsP; exists w; move: xy; rewrite mulr_ge0_gt0 ?(sX _ _).1 ?(sY _ _).1 //.
by case/andP=> /((sX _ _).2) -> /((sY _ _).2) ->.
Qed.

Lemma exactly_tr m X : exactly m X -> exactly m X^T.
Proof. by move=> sX u v; rewrite mxE (near_sym (edge_sym g)); exact: sX. Qed.

Lemma inside_tr m X : inside m X -> inside m X^T.
Proof. by move=> sX u v; rewrite mxE (near_sym (edge_sym g)); exact: sX. Qed.

Lemma exactly_cube m X : exactly m X -> exactly (3 * m) (cube X).
Proof.
move=> sX; have -> : (3 * m = m + m + m)%N by lia.
by apply: exactly_mul => //; apply: exactly_mul => //; exact: exactly_tr.
Qed.

Lemma exactly_loops : exactly 1 (with_loops R g).
Proof.
move=> u v; rewrite !mxE near1; split; first by rewrite addr_ge0 ?ler0n.
by rewrite -natrD ltr0n; case: eqP => [->|_]; case: (g _ _).
Qed.

Lemma exactly_scaled a b c d X Y : (a <= b)%N -> 0 <= c -> 0 < d ->
  exactly a X -> exactly b Y -> exactly b (c *: X + d *: Y).
Proof.
move=> ab c0 d0 sX sY u v; rewrite !mxE; have [pX iX] := sX u v; have [pY iY] := sY u v.
have dY : (0 < d * Y u v) = (0 < Y u v) by rewrite pmulr_rgt0.
have dY0 : 0 <= d * Y u v by rewrite mulr_ge0 // ltW.
split; first by rewrite addr_ge0 // mulr_ge0.
rewrite -iY; apply/idP/idP => [|Y0]; last by rewrite ltr_wpDl ?mulr_ge0 ?dY.
case: (boolP (near g b u v)) => [nuv _|far]; first by rewrite iY.
have -> : X u v = 0.
  by apply: not_gt0_eq0 => //; apply: contra far; rewrite iX; exact: near_leq.
by rewrite mulr0 add0r dY iY.
Qed.

End Supports.

(* ------------------------------------------------------------------------------------------- *)
(* Reach *)

Section Reach.
Variables (R : numDomainType) (n : nat) (g : graph n).

Lemma exactly_scaled_cubing c L : (forall l, 0 <= (c l).1) -> (forall l, 0 < (c l).2) ->
  exactly g (3 ^ L) (scaled_cubing (R := R) g c L).
Proof.
move=> c0 d0; elim: L => [|L IH]; first exact: exactly_loops.
rewrite expnS /= /scaled_cube; apply: exactly_scaled IH (exactly_cube IH) => //.
by rewrite leq_pmull.
Qed.

Lemma exactly_cubing L : exactly g (3 ^ L) (cubing R g L).
Proof.
elim: L => [|L IH]; first exact: exactly_loops.
by rewrite expnS; apply: exactly_cube IH.
Qed.

(* Claim: connectivity/reach (identity weights, no residual).
   For every graph, depth and ordered ring of entries, entry (u, v) of the output is positive
   exactly if u and v are connected at distance at most 3^L. *)
Theorem reach L u v : (0 < cubing R g L u v) = within g (3 ^ L) u v.
Proof. by rewrite withinE (exactly_cubing L u v).2. Qed.

(* Claim: connectivity/reach. Every other entry is zero: nothing is negative. *)
Theorem reach_zero L u v : ~~ within g (3 ^ L) u v -> cubing R g L u v = 0.
Proof. by rewrite -reach => /not_gt0_eq0; apply; exact: (exactly_cubing L u v).1. Qed.

(* Claim: connectivity/reach (with the residual connection, weights (1, 1), as well).
   The same for layers X -> a X + b X X^T X with any a >= 0 and b > 0, other ones in each layer. *)
Theorem reach_scaled c L u v : (forall l, 0 <= (c l).1) -> (forall l, 0 < (c l).2) ->
  (0 < scaled_cubing (R := R) g c L u v) = within g (3 ^ L) u v.
Proof. by move=> c0 d0; rewrite withinE (exactly_scaled_cubing L c0 d0 u v).2. Qed.

(* The hypotheses are met by the residual connection. *)
Lemma reach_residual L u v :
  (0 < scaled_cubing (R := R) g (fun _ => (1, 1)) L u v) = within g (3 ^ L) u v.
Proof. by apply: reach_scaled => l /=. Qed.

(* The farthest pair that a relation of the form `within m` holds for. *)
Lemma farthest_within (p : rel 'I_n) m : (forall u v, p u v = within g m u v) ->
  (\max_(u < n) \max_(v < n | p u v) distance g u v = minn m (diameter g))%N.
Proof.
move=> pE; apply/eqP; rewrite eqn_leq; apply/andP; split.
  apply/bigmax_leqP => u _; apply/bigmax_leqP => v; rewrite pE leq_min => /andP[uv ->] /=.
  by have := near_diameter uv; rewrite -withinE => /andP[].
case: (posnP n) => [n0|n_gt0].
  rewrite (_ : diameter g = 0%N) ?minn0 //; apply: big1 => u _.
  by have := ltn_ord u; rewrite {2}n0.
have [u [v uv dv]] := diameter_attained g (Ordinal n_gt0).
have [||w uw dw] := @geodesic _ g u v (minn m (diameter g)) => //; first by rewrite dv geq_minr.
apply: leq_trans (leq_bigmax u).
rewrite -{1}dw; apply: (@leq_bigmax_cond _ (fun v => p u v) (fun v => distance g u v) w).
by rewrite pE /within uw dw geq_minl.
Qed.

(* Claim: connectivity/reach, the right-hand side Min(3**depth, diameter).
   The farthest pair with a positive entry is at distance min(3^L, D), D the largest finite
   distance. *)
Theorem reached_distance L :
  (\max_(u < n) \max_(v < n | (0 < cubing R g L u v)%R) distance g u v
   = minn (3 ^ L) (diameter g))%N.
Proof. by apply: farthest_within => u v; rewrite reach. Qed.

(* Claim: connectivity/row_reach.
   Two rows of the output have a positive inner product exactly for connected vertices at distance
   at most 2 * 3^L. *)
Theorem row_reach L u v :
  (0 < (cubing R g L *m (cubing R g L)^T) u v) = within g (2 * 3 ^ L) u v.
Proof.
have sX := exactly_cubing L.
by rewrite withinE (exactly_mul sX (exactly_tr sX) u v).2 mul2n -addnn.
Qed.

(* Claim: connectivity/row_reach, in terms of supports: a common non-zero column. *)
Theorem row_reach_support L u v :
  [exists w, (cubing R g L u w != 0) && (cubing R g L v w != 0)] = within g (2 * 3 ^ L) u v.
Proof.
rewrite withinE mul2n -addnn near_cat; apply: eq_existsb => w.
have nz x y : (cubing R g L x y != 0) = near g (3 ^ L) x y.
  by have [x0 <-] := exactly_cubing L x y; rewrite lt_def x0 andbT.
by rewrite !nz (near_sym (edge_sym g) _ v).
Qed.

(* Claim: connectivity/row_reach. The farthest pair of such rows is at distance min(2 * 3^L, D), D
   the largest finite distance. *)
Theorem row_distance L :
  (\max_(u < n) \max_(v < n | (0 < (cubing R g L *m (cubing R g L)^T) u v)%R) distance g u v
   = minn (2 * 3 ^ L) (diameter g))%N.
Proof. by apply: farthest_within => u v; rewrite row_reach. Qed.

(* Claim: connectivity/layers_for_diameter.
   L layers decide every pair of a graph (positive entry iff connected) exactly if
   ceil(log_3 D) <= L, D the largest finite distance. up_log 3 D is the least L with
   D <= 3^L. *)
Theorem layers_for_diameter L :
  (forall u v, (0 < cubing R g L u v) = connect g u v) <-> (up_log 3 (diameter g) <= L)%N.
Proof.
have -> : (up_log 3 (diameter g) <= L)%N = (diameter g <= 3 ^ L)%N.
  apply/idP/idP => [|/up_log_min]; last exact.
  by move/(leq_pexp2l (isT : 0 < 3)%N); apply: leq_trans; exact: up_logP.
split=> [dec|dm u v].
  by apply/diameter_leP => u v uv; move: uv; rewrite -dec reach => /andP[].
by rewrite reach; apply/andP/idP => [[]|uv] //; split=> //; move/diameter_leP: dm; apply.
Qed.

(* Claim: connectivity/layers_for_diameter, the lower half.
   With fewer layers some connected pair has the entry of an unconnected one, zero. *)
Theorem too_few_layers L : (3 ^ L < diameter g)%N ->
  exists u, exists2 v, connect g u v & cubing R g L u v = 0.
Proof.
move=> few; have [u0 _] : exists u0 : 'I_n, True.
  case: (posnP n) => [n0|n_gt0]; last by exists (Ordinal n_gt0).
  by move: few; rewrite /diameter big1 // => u _; have := ltn_ord u; rewrite {2}n0.
have [u [v uv dv]] := diameter_attained g u0; exists u; exists v => //.
by apply: reach_zero; rewrite /within uv dv -ltnNge.
Qed.

End Reach.

(* ------------------------------------------------------------------------------------------- *)
(* Polynomials of low degree on the cube, and parity *)

Section Degree.
Variables (R : realDomainType) (d0 : nat).
Notation cube_point := {ffun 'I_d0 -> bool}.
Implicit Types (f h : cube_point -> R) (s : cube_point).

(* f reads only the coordinates in S. *)
Definition reads (T : Type) (S : {set 'I_d0}) (f : cube_point -> T) :=
  forall s s', (forall k, k \in S -> s k = s' k) -> f s = f s'.

(* f is a sum of functions that read at most d coordinates. *)
Inductive low (d : nat) : (cube_point -> R) -> Prop :=
| low_reads (S : {set 'I_d0}) f : (#|S| <= d)%N -> reads S f -> low d f
| low_plus f1 f2 f : low d f1 -> low d f2 -> (forall s, f s = f1 s + f2 s) -> low d f.

Lemma low_leq a b f : (a <= b)%N -> low a f -> low b f.
Proof.
move=> ab; elim=> [S f' Sa fS|f1 f2 f' _ l1 _ l2 fE]; last exact: low_plus l1 l2 fE.
by apply: low_reads fS; exact: leq_trans ab.
Qed.

Lemma low_const d (c : R) : low d (fun _ => c).
Proof. by apply: (@low_reads d set0) => //; rewrite cards0. Qed.

Lemma low_ext d f h : (forall s, h s = f s) -> low d f -> low d h.
Proof. by move=> hf lf; apply: (low_plus lf (low_const d 0)) => s; rewrite hf addr0. Qed.

Lemma low_add d f h : low d f -> low d h -> low d (fun s => f s + h s).
Proof. by move=> lf lh; apply: low_plus lf lh _. Qed.

Lemma low_sum d (I : Type) (r : seq I) (F : I -> cube_point -> R) :
  (forall i, low d (F i)) -> low d (fun s => \sum_(i <- r) F i s).
Proof.
move=> lF; elim: r => [|i r IH].
  by apply: low_ext (low_const d 0) => s; rewrite big_nil.
by apply: low_plus (lF i) IH _ => s; rewrite big_cons.
Qed.

Lemma low_mul a b f h : low a f -> low b h -> low (a + b) (fun s => f s * h s).
Proof.
elim=> [S f' Sa fS|f1 f2 f' _ l1 _ l2 fE] lh; last first.
  by apply: low_plus (l1 lh) (l2 lh) _ => s; rewrite fE mulrDl.
elim: lh => [T h' Tb hT|h1 h2 h' _ l1 _ l2 hE]; last first.
  by apply: low_plus l1 l2 _ => s; rewrite hE mulrDr.
apply: (@low_reads _ (S :|: T)) => [|s s' ss'].
  by apply: leq_trans (leq_add Sa Tb); rewrite cardsU leq_subr.
by rewrite (fS s s') ?(hT s s') // => k kS; apply: ss'; rewrite inE kS ?orbT.
Qed.

Definition low_matrix d m k (X : cube_point -> 'M[R]_(m, k)) :=
  forall i j, low d (fun s => X s i j).

Lemma low_matrix_mul a b m k l (X : cube_point -> 'M[R]_(m, k)) (Y : cube_point -> 'M[R]_(k, l)) :
  low_matrix a X -> low_matrix b Y -> low_matrix (a + b) (fun s => X s *m Y s).
Proof.
move=> lX lY i j; apply: (@low_ext _ (fun s => \sum_k X s i k * Y s k j)).
  by move=> s; rewrite mxE.
by apply: low_sum => x; exact: low_mul.
Qed.

Lemma low_matrix_add d m k (X Y : cube_point -> 'M[R]_(m, k)) :
  low_matrix d X -> low_matrix d Y -> low_matrix d (fun s => X s + Y s).
Proof.
move=> lX lY i j; apply: (@low_ext _ (fun s => X s i j + Y s i j)); last exact: low_add.
by move=> s; rewrite mxE.
Qed.

Lemma low_matrix_const d m k (C : 'M[R]_(m, k)) : low_matrix d (fun _ => C).
Proof. by move=> i j; exact: low_const. Qed.

Lemma low_matrix_mulr d m k l (X : cube_point -> 'M[R]_(m, k)) (C : 'M[R]_(k, l)) :
  low_matrix d X -> low_matrix d (fun s => X s *m C).
Proof.
by move=> lX; rewrite -[d]addn0; apply: low_matrix_mul lX _; exact: low_matrix_const.
Qed.

Lemma low_matrix_mull d m k l (X : cube_point -> 'M[R]_(k, l)) (C : 'M[R]_(m, k)) :
  low_matrix d X -> low_matrix d (fun s => C *m X s).
Proof. by move=> lX; apply: (@low_matrix_mul 0) => //; exact: low_matrix_const. Qed.

Lemma low_matrix_tr d m k (X : cube_point -> 'M[R]_(m, k)) :
  low_matrix d X -> low_matrix d (fun s => (X s)^T).
Proof. by move=> lX i j; apply: low_ext (lX j i) => s; rewrite mxE. Qed.

Lemma low_matrix_sum d m k (I : Type) (r : seq I) (X : I -> cube_point -> 'M[R]_(m, k)) :
  (forall i, low_matrix d (X i)) -> low_matrix d (fun s => \sum_(i <- r) X i s).
Proof.
move=> lX i j; apply: (@low_ext _ (fun s => \sum_(x <- r) X x s i j)).
  by move=> s; rewrite summxE.
by apply: low_sum => x; exact: lX.
Qed.

Lemma low_trace d m (X : cube_point -> 'M[R]_m) :
  low_matrix d X -> low d (fun s => \tr (X s)).
Proof. by move=> lX; apply: low_sum => i; exact: lX. Qed.

(* Parity of the coordinates below j. *)
Definition parity_below (j : nat) s : bool := \big[addb/false]_(k < d0 | (k < j)%N) s k.
Definition parity s := parity_below d0 s.

Definition flip (k : 'I_d0) s : cube_point := [ffun i => s i (+) (i == k)].

Lemma flipK k : involutive (flip k).
Proof. by move=> s; apply/ffunP => i; rewrite !ffunE -addbA addbb addbF. Qed.

Lemma parity_flip k s : parity (flip k s) = ~~ parity s.
Proof.
rewrite /parity /parity_below (bigD1 k) ?ltn_ord //= [in RHS](bigD1 k) ?ltn_ord //=.
rewrite ffunE eqxx addbT addNb; congr (~~ (_ (+) _)).
by apply: eq_bigr => i /andP[_ /negbTE ik]; rewrite ffunE ik addbF.
Qed.

(* A polynomial of degree below d0 does not correlate with parity. *)
Lemma parity_orthogonal d f : (d < d0)%N -> low d f -> \sum_s (-1) ^+ parity s * f s = 0.
Proof.
move=> dd0; elim=> [S h Sd hS|f1 f2 h _ l1 _ l2 hE]; last first.
  rewrite -[RHS]addr0 -[X in X + _]l1 -[X in _ + X]l2 -big_split /=.
  by apply: eq_bigr => s _; rewrite hE mulrDr.
have [k kS] : exists k, k \notin S.
  apply/existsP; rewrite -negb_forall; apply/negP => /forallP all_in.
  suff : (#|S| = d0)%N by move=> Sd0; move: Sd; rewrite Sd0 leqNgt dd0.
  by rewrite -[RHS]card_ord; apply: eq_card => i; rewrite all_in.
set total := \sum_s _; suff : total = - total.
  by move/eqP; rewrite -addr_eq0 -mulr2n mulrn_eq0 => /eqP.
rewrite {1}/total (reindex_inj (inv_inj (flipK k))) /= /total -sumrN.
apply: eq_bigr => s _; rewrite parity_flip (hS (flip k s) s) => [|i iS]; last first.
  by rewrite ffunE; case: eqP kS => [<-|]; rewrite ?iS ?addbF.
by case: parity; rewrite ?expr0 ?expr1 ?mulN1r ?mul1r ?opprK.
Qed.

(* Hence no polynomial of degree below d0, compared with a threshold, computes parity: the
   theorem of Minsky and Papert. *)
Lemma no_threshold d f t : (d < d0)%N -> low d f -> ~ (forall s, (t < f s) = ~~ parity s).
Proof.
move=> dd0 lf dec; have lt := low_add lf (low_const d (- t)).
have := parity_orthogonal dd0 lt => /eqP; apply/negP; rewrite gt_eqF //.
pose s0 : cube_point := [ffun=> false].
have par0 : parity s0 = false by rewrite /parity /parity_below big1 // => i _; rewrite ffunE.
rewrite (bigD1 s0) //= ltr_pwDl //; first by rewrite par0 expr0 mul1r subr_gt0 dec par0.
apply: sumr_ge0 => s _; have := dec s; case: (parity s) => /= ts.
  by rewrite expr1 mulN1r oppr_ge0 subr_le0 leNgt ts.
by rewrite expr0 mul1r subr_ge0 ltW.
Qed.

End Degree.

(* ------------------------------------------------------------------------------------------- *)
(* Two paths in all labellings *)

Lemma connect_map n (e e' : rel 'I_n) (f : 'I_n -> 'I_n) :
  (forall x y, e x y -> e' (f x) (f y)) -> forall x y, connect e x y -> connect e' (f x) (f y).
Proof.
move=> ee' x y /connectP[p pp ->] {y}; elim: p x pp => [|z p IH] x /=; first by rewrite connect0.
by case/andP=> /ee' xz /IH; apply: connect_trans; exact: connect1.
Qed.

Lemma connect_relabel n (g : graph n) (s : {perm 'I_n}) x y :
  connect (relabel g s) x y = connect g (s x) (s y).
Proof.
apply/idP/idP => [|c]; first exact: connect_map.
rewrite -(permK s x) -(permK s y); apply: connect_map c => z z' /=.
by rewrite !permKV.
Qed.

Lemma walk_relabel n (g : graph n) (s : {perm 'I_n}) k x y :
  walk (relabel g s) k x y = walk g k (s x) (s y).
Proof.
elim: k x => [|k IH] x /=; first by rewrite (inj_eq perm_inj).
apply/existsP/existsP => -[w /andP[xw wy]].
  by exists (s w); rewrite -IH xw.
by exists (s^-1%g w); rewrite IH permKV xw.
Qed.

Lemma distance_relabel n (g : graph n) (s : {perm 'I_n}) x y :
  distance (relabel g s) x y = distance g (s x) (s y).
Proof. by apply: eq_find => k; exact: walk_relabel. Qed.

Lemma diameter_relabel n (g : graph n) (s : {perm 'I_n}) :
  diameter (relabel g s) = diameter g.
Proof.
apply/eqP; rewrite eqn_leq; apply/andP; split; apply/diameter_leP => x y.
  by rewrite connect_relabel distance_relabel; move: (s x) (s y); exact/diameter_leP.
rewrite -(permKV s x) -(permKV s y) -connect_relabel -distance_relabel.
by move: (s^-1%g x) (s^-1%g y); exact/diameter_leP.
Qed.

Section TwoPaths.
Variable d : nat.
Notation vertex := 'I_d.+1.*2.

(* The vertex at place j of the path number b. *)
Lemma vertex_proof (j : 'I_d.+1) (b : bool) : (b + j.*2 < d.+1.*2)%N.
Proof. by have := ltn_ord j; case: b; lia. Qed.
Definition vertex_at (j : 'I_d.+1) (b : bool) : vertex := Ordinal (vertex_proof j b).

Lemma place_proof (x : vertex) : (x./2 < d.+1)%N.
Proof. by have := ltn_ord x; rewrite -{1}(odd_double_half x); case: odd; lia. Qed.
Definition place_of (x : vertex) : 'I_d.+1 := Ordinal (place_proof x).

Lemma vertex_atK x : vertex_at (place_of x) (odd x) = x.
Proof. by apply: val_inj; rewrite /= odd_double_half. Qed.

Lemma odd_vertex j b : odd (vertex_at j b) = b.
Proof. by rewrite /= oddD odd_double addbF; case: b. Qed.

Lemma half_vertex j b : (vertex_at j b)./2 = j.
Proof. by rewrite /= half_bit_double. Qed.

(* Places between two vertices. *)
Definition gap (x y : vertex) : nat := (x./2 - y./2 + (y./2 - x./2))%N.

Lemma walk_two_paths (k : nat) (x y : vertex) :
  walk (two_paths d.+1) k x y -> odd x = odd y /\ (gap x y <= k)%N.
Proof.
rewrite /gap; elim: k x => [|k IH] x /=; first by move/eqP->; split=> //; lia.
case/existsP=> z /andP[/andP[/eqP-> xz] /IH[-> zy]]; split=> //.
by case/orP: xz => /eqP; lia.
Qed.

Lemma two_paths_walk (b : bool) (k i : nat) (Hi : (i < d.+1)%N) (Hk : (i + k < d.+1)%N) :
  walk (two_paths d.+1) k (vertex_at (Ordinal Hi) b) (vertex_at (Ordinal Hk) b).
Proof.
elim: k i Hi Hk => [|k IH] i Hi Hk.
  by apply/eqP; apply: val_inj; rewrite /= addn0.
have Hi' : (i.+1 < d.+1)%N by lia.
have Hk' : (i.+1 + k < d.+1)%N by lia.
apply/existsP; exists (vertex_at (Ordinal Hi') b); apply/andP; split.
  by rewrite /= /two_paths_edge !odd_vertex !half_vertex /= !eqxx.
rewrite (_ : Ordinal Hk = Ordinal Hk') //; apply: val_inj => /=; lia.
Qed.

Lemma walk_two_paths_dist (x y : vertex) :
  odd x = odd y -> walk (two_paths d.+1) (gap x y) x y.
Proof.
wlog xy : x y / (x./2 <= y./2)%N => [ord oxy|oxy].
  case: (leqP x./2 y./2) => [|/ltnW] h; first exact: ord.
  by rewrite (walk_sym (@two_paths_sym _)) /gap addnC; apply: ord.
have kE : (x./2 + gap x y = y./2)%N by rewrite /gap; lia.
have Hk : (x./2 + gap x y < d.+1)%N by rewrite kE place_proof.
have := two_paths_walk (odd x) (place_proof x) Hk.
rewrite (_ : vertex_at (Ordinal Hk) _ = y); first by rewrite vertex_atK.
by apply: val_inj; rewrite /= kE oxy odd_double_half.
Qed.

Lemma connect_two_paths (x y : vertex) : connect (two_paths d.+1) x y = (odd x == odd y).
Proof.
apply/idP/eqP => [/connect_walk[k _ /walk_two_paths[]] //|xy].
exact: walk_connect (walk_two_paths_dist xy).
Qed.

Lemma distance_two_paths (x y : vertex) :
  odd x = odd y -> distance (two_paths d.+1) x y = gap x y.
Proof.
move=> xy; apply/eqP; rewrite eqn_leq distance_least ?walk_two_paths_dist //=.
have c : connect (two_paths d.+1) x y by rewrite connect_two_paths xy.
by have [] := walk_two_paths (distance_walk c).
Qed.

(* Two paths of d + 1 vertices each have diameter d. *)
Lemma diameter_two_paths : diameter (two_paths d.+1) = d.
Proof.
apply/eqP; rewrite eqn_leq; apply/andP; split.
  apply/diameter_leP => x y; rewrite connect_two_paths => /eqP xy.
  rewrite distance_two_paths // /gap; have := place_proof x; have := place_proof y; lia.
have := near_diameter (_ : connect (two_paths d.+1) (vertex_at ord0 false)
  (vertex_at ord_max false)).
rewrite connect_two_paths !odd_vertex => /(_ isT) /nearP[k kd /walk_two_paths[_]].
rewrite /gap !half_vertex /= => dk; apply: leq_trans kd; apply: leq_trans dk; lia.
Qed.

(* The labelling for a choice of swaps s: the paths change sides behind place k if s k. *)
Section Swaps.
Variable tau : {perm vertex}.
Implicit Types s : {ffun 'I_d -> bool}.

Definition swapped s (x : vertex) : vertex :=
  vertex_at (place_of x) (odd x (+) parity_below x./2 s).

Lemma swapped_inj s : injective (swapped s).
Proof.
move=> x y xy; have pxy : x./2 = y./2 by move/(congr1 (fun z : vertex => z./2)): xy;
  rewrite !half_vertex.
move/(congr1 (fun z : vertex => odd z)): xy; rewrite !odd_vertex pxy => /addIb oxy.
by rewrite -(vertex_atK x) -(vertex_atK y) oxy (_ : place_of x = place_of y) //; exact: val_inj.
Qed.

Definition labelling s : {perm vertex} := (tau * perm (@swapped_inj s))%g.

Lemma labellingE s x : labelling s x = swapped s (tau x).
Proof. by rewrite permM permE. Qed.

Lemma parity_belowS s (k : 'I_d) : parity_below k.+1 s = s k (+) parity_below k s.
Proof.
rewrite /parity_below (bigD1 k) //=; congr (_ (+) _); apply: eq_bigl => i.
by rewrite ltnS [in RHS]ltn_neqAle andbC -val_eqE.
Qed.

(* Whether two labels are adjacent depends on one swap at most. *)
Lemma adjacency_reads (x y : vertex) :
  exists2 S : {set 'I_d}, (#|S| <= 1)%N
    & reads S (fun s => relabel (two_paths d.+1) (labelling s) x y).
Proof.
pose S := [set k : 'I_d | k == minn (tau x)./2 (tau y)./2 :> nat].
have cS : (#|S| <= 1)%N.
  apply/card_le1P => i; rewrite inE => /eqP iE j; rewrite !inE -iE -val_eqE.
  by rewrite eq_sym.
exists S => // s s' ss'; rewrite /= /two_paths_edge !labellingE !odd_vertex !half_vertex /=.
have step (z z' : vertex) : z./2.+1 = z'./2 ->
    exists2 k : 'I_d, z./2 = k & forall t, parity_below z'./2 t = t k (+) parity_below z./2 t.
  move=> zz'; have kd : (z./2 < d)%N by have := place_proof z'; rewrite -zz'.
  by exists (Ordinal kd) => // t; rewrite -zz' -(parity_belowS t (Ordinal kd)).
have keep b c (p p' k : bool) (e : bool) :
    ((b (+) p == c (+) (k (+) p)) && e) = ((b (+) p' == c (+) (k (+) p')) && e).
  by case: e b c p p' k => [] [] [] [] [] [].
have keep' b c (p p' k : bool) (e : bool) :
    ((b (+) (k (+) p) == c (+) p) && e) = ((b (+) (k (+) p') == c (+) p') && e).
  by case: e b c p p' k => [] [] [] [] [] [].
case: (eqVneq (tau x)./2.+1 (tau y)./2) => [xy|nxy].
  have [k kx pk] := step _ _ xy; rewrite !pk (ss' k); first exact: keep.
  by rewrite inE -kx; apply/eqP; lia.
case: (eqVneq (tau y)./2.+1 (tau x)./2) => [yx|nyx]; last by rewrite !andbF.
have [k ky pk] := step _ _ yx; rewrite !pk (ss' k); first exact: keep'.
by rewrite inE -ky; apply/eqP; lia.
Qed.

End Swaps.

End TwoPaths.

(* ------------------------------------------------------------------------------------------- *)
(* No weights reach further *)

Lemma identity_netE (R : ringType) n (e : rel 'I_n) L :
  state (identity_net R n) id e L = cubing R e L.
Proof.
elim: L => [|L IH]; first by rewrite /= mulmx1 addr0.
have -> : cubing R e L.+1 = cube (cubing R e L) by [].
rewrite /= /attend /= big_seq1 mulmx0 !addr0 IH !mulmx1 /cube.
by congr (_ *m _); apply/matrixP => u v; rewrite mxE.
Qed.

Section AllWeights.
Variables (R : realDomainType) (d : nat) (tau : {perm 'I_d.+1.*2}).
Notation graph_of s := (relabel (two_paths d.+1) (labelling tau s)).
Variable N : net R d.+1.*2.

Lemma low_with_loops : low_matrix 1 (fun s => with_loops R (graph_of s)).
Proof.
move=> x y; apply: (@low_ext _ _ _ (fun s => (graph_of s x y)%:R + (x == y)%:R)).
  by move=> s; rewrite !mxE.
apply: low_add; last exact: low_const.
have [S cS rS] := adjacency_reads tau x y; apply: (@low_reads _ _ _ S) => // s s' ss'.
by rewrite (rS s s').
Qed.

(* A state is of degree 3^L in the entries of the adjacency matrix. *)
Lemma low_state L : low_matrix (3 ^ L) (fun s => state N id (graph_of s) L).
Proof.
elim: L => [|L IH] /=.
  apply: low_matrix_add; last exact: low_matrix_const.
  exact/low_matrix_mulr/low_with_loops.
rewrite /attend; apply: low_matrix_add; last exact: low_matrix_const.
apply: low_matrix_add.
  apply: low_matrix_sum => h; apply: low_matrix_mulr.
  have -> : (3 ^ L.+1 = 3 ^ L + 3 ^ L + 3 ^ L)%N by rewrite expnS; lia.
  apply: low_matrix_mul => //.
  have lS : low_matrix (3 ^ L + 3 ^ L) (fun s => state N id (graph_of s) L *m h.1
      *m (state N id (graph_of s) L)^T).
    by apply: low_matrix_mul; [exact: low_matrix_mulr | exact: low_matrix_tr].
  by move=> i j; apply: low_ext (lS i j) => s; rewrite mxE.
apply: low_matrix_mulr => i j; apply: low_leq (IH i j); by rewrite leq_exp2l.
Qed.

End AllWeights.

(* Labels for any two vertices: some permutation puts u and v at the two ends of one path. *)
Lemma ends_perm d (u v : 'I_d.+1.*2) : u != v -> (0 < d)%N ->
  exists2 tau : {perm 'I_d.+1.*2}, tau u = vertex_at ord0 false & tau v = vertex_at ord_max false.
Proof.
move=> uv d0; set a := vertex_at _ _; set b := vertex_at _ _.
have ab : a != b by rewrite -val_eqE /=; lia.
exists (tperm u a * tperm (tperm u a v) b)%g; rewrite permM ?tpermL //.
rewrite (@tpermD _ _ b a) //; last by rewrite eq_sym.
by rewrite -[X in _ != X](tpermL u a) (inj_eq perm_inj) eq_sym.
Qed.

(* Reading one entry is a linear functional. *)
Lemma trace_delta (R : comRingType) n (X : 'M[R]_n) u v : \tr (delta_mx v u *m X) = X u v.
Proof.
rewrite mxtrace_mulC /mxtrace (bigD1 u) //= big1 ?addr0 => [|i iu].
  rewrite mxE (bigD1 v) //= big1 ?addr0 => [|j jv]; first by rewrite mxE !eqxx mulr1.
  by rewrite mxE (negbTE jv) mulr0.
by rewrite mxE big1 // => j _; rewrite mxE (negbTE iu) andbF mulr0.
Qed.

Lemma uphalf_leq a b : (uphalf a <= b)%N = (a <= 2 * b)%N.
Proof. by rewrite uphalf_half -[in RHS](odd_double_half a) -muln2; case: odd; lia. Qed.

Section Wall.
Variables (R : realDomainType) (d : nat) (u v : 'I_d.+1.*2).
Hypothesis uv : u != v.
Notation labelled s := (relabel (two_paths d.+1) s).

(* A read-out of degree below d errs in some labelling. *)
Lemma low_readout_errs k (f : rel 'I_d.+1.*2 -> R) (t : R) : (k < d)%N ->
  (forall tau, low k (fun s => f (labelled (labelling tau s)))) ->
  exists s : {perm 'I_d.+1.*2}, (t < f (labelled s)) != connect (labelled s) u v.
Proof.
move=> kd lf; apply/existsP; rewrite -[[exists _, _]]negbK negb_exists; apply/negP => /forallP dec.
have [tau tu tv] := ends_perm uv (leq_ltn_trans (leq0n k) kd).
apply: (no_threshold kd (lf tau) (t := t)) => s.
have := dec (labelling tau s); rewrite negbK => /eqP->.
rewrite connect_relabel connect_two_paths !labellingE tu tv !odd_vertex !half_vertex.
rewrite /parity {1}/parity_below big1 => [|i]; last by rewrite ltn0.
by rewrite /= eq_sym; case: parity_below.
Qed.

(* Claim: connectivity/layers_for_diameter, the lower half for ALL weights.
   Take any net of L layers of linearised attention, any number of heads, widths, skip matrices,
   biases, positions and affine embedding of A + I, and decide with any linear functional C of its
   output and any threshold t whether vertices u and v are connected. If the diameter d is more
   than 3^L, the net errs on some labelling of two paths of diameter d. *)
Theorem no_weights_reach_further (N : net R d.+1.*2) L (C : 'M[R]_(width N L, d.+1.*2)) (t : R) :
  (3 ^ L < d)%N ->
  exists s : {perm 'I_d.+1.*2},
    (t < \tr (C *m state N id (labelled s) L)) != connect (labelled s) u v.
Proof.
move=> Ld; apply: (@low_readout_errs (3 ^ L) (fun e => \tr (C *m state N id e L))) => // tau.
by apply: low_trace; apply: low_matrix_mull; exact: low_state.
Qed.

(* Claim: connectivity/row_reach, for ALL weights.
   Read-outs that multiply entries of the output with each other, such as inner products of
   rows, gain a factor of two and no more. *)
Theorem no_row_readout_reaches_further (N : net R d.+1.*2) L
    (C : 'M[R]_d.+1.*2) (C' : 'M[R]_(width N L)) (t : R) : (2 * 3 ^ L < d)%N ->
  exists s : {perm 'I_d.+1.*2}, let X := state N id (labelled s) L in
    (t < \tr (C *m X *m C' *m X^T)) != connect (labelled s) u v.
Proof.
move=> Ld; apply: (@low_readout_errs (2 * 3 ^ L)
  (fun e => \tr (C *m state N id e L *m C' *m (state N id e L)^T))) => // tau.
apply: low_trace; rewrite mul2n -addnn; apply: low_matrix_mul; last first.
  by apply: low_matrix_tr; exact: low_state.
by apply: low_matrix_mulr; apply: low_matrix_mull; exact: low_state.
Qed.

Lemma nonnegative_mul m k l (X : 'M[R]_(m, k)) (Y : 'M[R]_(k, l)) :
  nonnegative X -> nonnegative Y -> nonnegative (X *m Y).
Proof. by move=> X0 Y0 i j; rewrite mxE sumr_ge0 // => x _; rewrite mulr_ge0. Qed.

Lemma nonnegative_add m k (X Y : 'M[R]_(m, k)) :
  nonnegative X -> nonnegative Y -> nonnegative (X + Y).
Proof. by move=> X0 Y0 i j; rewrite mxE addr_ge0. Qed.

Lemma nonnegative_relu (N : net R d.+1.*2) (e : rel 'I_d.+1.*2) L : nonnegative_net N ->
  nonnegative (state N id e L) /\ state N (@relu R) e L = state N id e L.
Proof.
case=> E0 P0 W0; elim: L => [|L [X0 XE]] /=.
  split=> //; apply: nonnegative_add P0; apply: nonnegative_mul E0 => i j.
  by rewrite !mxE addr_ge0 ?ler0n.
rewrite XE; move: (state N id e L) X0 => X X0 {XE}; have [H0 K0 B0] := W0 L.
have sc h : h \in heads (layer N L) -> nonnegative (X *m h.1 *m X^T).
  case/H0=> q0 _; apply: nonnegative_mul; first exact: nonnegative_mul.
  by move=> i j; rewrite mxE.
have idE (Y : 'M[R]_d.+1.*2) : map_mx id Y = Y by apply/matrixP => i j; rewrite mxE.
split; last first.
  congr (_ + _ + _); rewrite !big_seq; apply: eq_bigr => h /sc h0; congr (_ *m _ *m _).
  by apply/matrixP => i j; rewrite [LHS]mxE [RHS]mxE /relu max_r //; exact: h0.
apply: nonnegative_add B0; apply: nonnegative_add; last exact: nonnegative_mul.
move=> i j; rewrite summxE big_seq sumr_ge0 // => h hh; have [_ v0] := H0 h hh.
by do 2!apply: nonnegative_mul => //; rewrite idE; exact: sc.
Qed.

(* Claim: connectivity/nonnegative_weights_fail (ye2025, Theorem 4.5, as reported).
   For every choice of non-negative weights of L layers of ReLU attention there is a graph of
   diameter d, for every d > 3^L, on which the model errs: two paths in some labelling. *)
Theorem nonnegative_weights_fail (N : net R d.+1.*2) L (C : 'M[R]_(width N L, d.+1.*2)) (t : R) :
  nonnegative_net N -> (3 ^ L < d)%N ->
  exists s : {perm 'I_d.+1.*2},
    (t < \tr (C *m state N (@relu R) (labelled s) L)) != connect (labelled s) u v.
Proof.
move=> N0 Ld; have [s err] := no_weights_reach_further C t Ld; exists s.
by rewrite (nonnegative_relu _ _ N0).2.
Qed.

(* Claim: connectivity/least_layers_all_weights, both halves.
   Some net of L layers decides in every labelling of two paths of diameter d whether u and v are
   connected, exactly if L >= ceil(log_3 d). *)
Theorem least_layers_all_weights L :
  (exists (N : net R d.+1.*2) (C : 'M[R]_(width N L, d.+1.*2)) (t : R),
     forall s, (t < \tr (C *m state N id (labelled s) L)) = connect (labelled s) u v)
  <-> (up_log 3 d <= L)%N.
Proof.
split=> [[N [C [t dec]]]|Ld].
  apply: up_log_min => //; rewrite leqNgt; apply/negP => Ld.
  by have [s] := no_weights_reach_further C t Ld; rewrite dec eqxx.
exists (identity_net R _), (delta_mx v u), 0 => s; rewrite identity_netE.
rewrite trace_delta.
by apply: (layers_for_diameter R (labelled s) L).2; rewrite diameter_relabel diameter_two_paths.
Qed.

(* Claim: connectivity/least_layers_row_readout, both halves, for ALL weights.
   With read-outs that multiply entries of the output with each other half the distance counts:
   some net of L layers decides exactly if L >= ceil(log_3 ceil(d/2)). *)
Theorem least_layers_row_readout L :
  (exists (N : net R d.+1.*2) (C : 'M[R]_d.+1.*2) (C' : 'M[R]_(width N L)) (t : R),
     forall s, let X := state N id (labelled s) L in
       (t < \tr (C *m X *m C' *m X^T)) = connect (labelled s) u v)
  <-> (up_log 3 (uphalf d) <= L)%N.
Proof.
split=> [[N [C [C' [t dec]]]]|].
  apply: up_log_min => //; rewrite uphalf_leq leqNgt; apply/negP => Ld.
  by have [s] := no_row_readout_reaches_further C C' t Ld; cbv zeta; rewrite dec eqxx.
move=> few; have Ld : (d <= 2 * 3 ^ L)%N.
  rewrite -uphalf_leq; apply: leq_trans (up_logP (uphalf d) (isT : 1 < 3)%N) _.
  by rewrite leq_exp2l.
exists (identity_net R _), (delta_mx v u), 1%:M, 0 => s; cbv zeta; rewrite identity_netE.
rewrite mulmx1 -mulmxA trace_delta row_reach.
apply/andP/idP => [[]|c] //; split=> //; apply: leq_trans Ld.
have /diameter_leP := leqnn (diameter (labelled s)); rewrite diameter_relabel diameter_two_paths.
exact.
Qed.

End Wall.

(* ------------------------------------------------------------------------------------------- *)
(* Examples, and the constants that would be wrong *)

Section Path.
Variable m : nat.

Lemma walk_path k (u v : 'I_m) : walk (path_graph m) k u v -> (u - v + (v - u) <= k)%N.
Proof.
elim: k u => [|k IH] u /=; first by move/eqP->; lia.
by case/existsP=> w /andP[/orP[]/eqP uw /IH]; lia.
Qed.

Lemma path_walk k i (Hi : (i < m)%N) (Hk : (i + k < m)%N) :
  walk (path_graph m) k (Ordinal Hi) (Ordinal Hk).
Proof.
elim: k i Hi Hk => [|k IH] i Hi Hk; first by apply/eqP/val_inj; rewrite /= addn0.
have Hi' : (i.+1 < m)%N by lia.
have Hk' : (i.+1 + k < m)%N by lia.
apply/existsP; exists (Ordinal Hi'); rewrite /= /path_edge /= eqxx /=.
by rewrite (_ : Ordinal Hk = Ordinal Hk') //; apply: val_inj => /=; lia.
Qed.

Lemma path_walk_dist (u v : 'I_m) : walk (path_graph m) (u - v + (v - u)) u v.
Proof.
wlog uv : u v / (u <= v)%N => [ord|].
  case: (leqP u v) => [|/ltnW] h; first exact: ord.
  by rewrite (walk_sym (@path_edge_sym _)) addnC; exact: ord.
have kE : (u + (u - v + (v - u)) = v)%N by lia.
have Hk : (u + (u - v + (v - u)) < m)%N by rewrite kE.
have uE : Ordinal (ltn_ord u) = u by apply: val_inj.
have vE : Ordinal Hk = v by apply: val_inj.
by have := path_walk (ltn_ord u) Hk; rewrite uE vE.
Qed.

Lemma connect_path (u v : 'I_m) : connect (path_graph m) u v.
Proof. exact: walk_connect (path_walk_dist u v). Qed.

Lemma distance_path (u v : 'I_m) : distance (path_graph m) u v = (u - v + (v - u))%N.
Proof.
apply/eqP; rewrite eqn_leq distance_least ?path_walk_dist //=.
exact: walk_path (distance_walk (connect_path u v)).
Qed.

End Path.

Lemma diameter_path d : diameter (path_graph d.+1) = d.
Proof.
apply/eqP; rewrite eqn_leq; apply/andP; split.
  apply/diameter_leP => u v _; rewrite distance_path.
  by have := ltn_ord u; have := ltn_ord v; lia.
have := near_diameter (connect_path (ord0 : 'I_d.+1) ord_max).
by rewrite -withinE => /andP[_]; rewrite distance_path /= sub0n subn0.
Qed.

(* The path of 3^L + 2 vertices has a pair at distance 3^L + 1, connected and with entry zero;
   with one vertex less, every entry is positive. *)
Example path_too_long (R : numDomainType) L :
  let g := path_graph (3 ^ L).+2 in
  [/\ distance g ord0 ord_max = (3 ^ L).+1, connect g ord0 ord_max
    & cubing R g L ord0 ord_max = 0].
Proof.
split; [by rewrite distance_path /= sub0n subn0 | exact: connect_path|].
by apply: reach_zero; rewrite /within distance_path /= sub0n subn0 ltnn andbF.
Qed.

Example path_long_enough (R : numDomainType) L (u v : 'I_(3 ^ L).+1) :
  0 < cubing R (path_graph (3 ^ L).+1) L u v.
Proof.
by rewrite ((layers_for_diameter R _ L).2 _) ?connect_path // diameter_path up_expnK.
Qed.

(* Claim: connectivity/reach, the control. No base but 3 is right, on paths and for one layer. *)
Lemma reach_base_unique (R : numDomainType) b :
  (forall d, let g := path_graph d.+1 in
     (\max_u \max_(v | (0 < cubing R g 1 u v)%R) distance g u v = minn (b ^ 1) d)%N) -> b = 3%N.
Proof.
move=> /(_ (b + 4)%N); cbv zeta; rewrite reached_distance diameter_path !expn1; lia.
Qed.

(* Claim: connectivity/row_reach, the control. No factor but 2 is right. *)
Lemma row_factor_unique (R : numDomainType) c L :
  (forall d, let g := path_graph d.+1 in
     (\max_u \max_(v | (0 < (cubing R g L *m (cubing R g L)^T) u v)%R) distance g u v
      = minn (c * 3 ^ L) d)%N) -> c = 2%N.
Proof.
move=> /(_ (c * 3 ^ L + 2 * 3 ^ L + 1)%N); cbv zeta; rewrite row_distance diameter_path.
have p3 : (0 < 3 ^ L)%N by rewrite expn_gt0.
by move=> e; have : (2 * 3 ^ L = c * 3 ^ L)%N by [lia | nia] => /eqP; rewrite eqn_pmul2r // => /eqP.
Qed.

(* Claim: connectivity/layers_for_diameter, the control: base 2 asks for 4 layers at D = 9, and
   2 are enough. *)
Lemma layers_not_base_2 : up_log 3 9 = 2%N /\ up_log 2 9 = 4%N.
Proof. by split; [rewrite (up_expnK 2) | rewrite (@up_log_eq 2 3)]. Qed.

(* ------------------------------------------------------------------------------------------- *)
(* Right-hand sides on binary numbers *)

Lemma nat_of_bin_of_nat k : nat_of_bin (N.of_nat k) = k.
Proof.
elim: k => // k IH; rewrite Nat2N.inj_succ -N.add_1_l nat_of_add_bin IH //.
Qed.

Lemma bin_of_natE k : bin_of_nat k = N.of_nat k.
Proof. by rewrite -{1}(nat_of_bin_of_nat k) nat_of_binK. Qed.

Lemma of_nat_exp b k : N.of_nat (b ^ k) = (N.of_nat b ^ N.of_nat k)%num.
Proof.
elim: k => [|k IH]; first by rewrite N.pow_0_r.
by rewrite Nat2N.inj_succ N.pow_succ_r' -IH expnS; lia.
Qed.

Lemma of_nat_min a b : N.of_nat (minn a b) = N.min (N.of_nat a) (N.of_nat b).
Proof. by lia. Qed.

(* The least e with p * b^(e - e0) >= m, counted from e0. *)
Fixpoint least_power (fuel : nat) (b e p m : N) : N :=
  if (m <=? p)%num then e
  else if fuel is f.+1 then least_power f b (N.succ e) (b * p) m else e.
(* ceil(log_b m), 0 for m <= 1. *)
Definition ceil_log (b m : N) : N := least_power (N.size_nat m) b 0 1 m.

(* Claim: connectivity/reach. *)
Definition reach_value (L D : N) : N := N.min (3 ^ L) D.
(* Claim: connectivity/row_reach. *)
Definition row_reach_value (L D : N) : N := N.min (2 * 3 ^ L) D.
(* Claim: connectivity/layers_for_diameter. *)
Definition layers_value (D : N) : N := ceil_log 3 D.

(* The value of connectivity/least_layers_row_readout. *)
Definition row_layers_value (D : N) : N := ceil_log 3 ((D + 1) / 2).

Lemma reach_valueE L D :
  reach_value (bin_of_nat L) (bin_of_nat D) = bin_of_nat (minn (3 ^ L) D).
Proof. by rewrite /reach_value !bin_of_natE of_nat_min of_nat_exp. Qed.

Lemma row_reach_valueE L D :
  row_reach_value (bin_of_nat L) (bin_of_nat D) = bin_of_nat (minn (2 * 3 ^ L) D).
Proof.
rewrite /row_reach_value !bin_of_natE of_nat_min; congr (N.min _ _).
by rewrite (_ : 2 = N.of_nat 2)%num // -(of_nat_exp 3); lia.
Qed.

Lemma size_nat_bound k : (k <= 2 ^ N.size_nat (N.of_nat k))%N.
Proof.
rewrite -{1}(nat_of_bin_of_nat k); case: (N.of_nat k) => //= p.
suff : (nat_of_pos p < 2 ^ Pos.size_nat p)%N by move/ltnW.
by elim: p => //= p IH; rewrite expnS ?NatTrec.doubleE; lia.
Qed.

Lemma least_powerE (b fuel e m : nat) : (1 < b)%N -> (e <= up_log b m <= e + fuel)%N ->
  least_power fuel (N.of_nat b) (N.of_nat e) (N.of_nat (b ^ e)) (N.of_nat m)
  = N.of_nat (up_log b m).
Proof.
move=> b1; elim: fuel e => [|f IH] e /andP[eu ue] /=.
  by rewrite (_ : up_log b m = e) ?if_same //; lia.
have -> : (N.of_nat m <=? N.of_nat (b ^ e))%num = (m <= b ^ e)%N by lia.
case: leqP => [me|em]; first by congr N.of_nat; have := up_log_min b1 me; lia.
have lu : (e < up_log b m)%N.
  rewrite ltn_neqAle eu andbT; apply/eqP => ee.
  by have := up_logP m b1; rewrite -ee leqNgt em.
rewrite -Nat2N.inj_succ -Nat2N.inj_mul -[(_ * _)%coq_nat]/(b * b ^ e)%N -expnS IH //; lia.
Qed.

Lemma ceil_logE (b m : nat) : (1 < b)%N ->
  ceil_log (bin_of_nat b) (bin_of_nat m) = bin_of_nat (up_log b m).
Proof.
move=> b1; rewrite !bin_of_natE; apply: (@least_powerE b _ 0) => //; rewrite add0n /=.
apply: up_log_min => //; apply: leq_trans (size_nat_bound m) _.
by case: (N.size_nat _) => // k; rewrite leq_exp2r.
Qed.

Lemma row_layers_valueE D : row_layers_value (bin_of_nat D) = bin_of_nat (up_log 3 (uphalf D)).
Proof.
rewrite /row_layers_value (_ : _ / 2 = bin_of_nat (uphalf D))%num; first exact: (@ceil_logE 3).
rewrite !bin_of_natE; symmetry; apply: (@N.div_unique _ _ _ (N.of_nat (~~ odd D))).
  by case: odd.
by rewrite uphalf_half -{1}(odd_double_half D) -muln2; case: odd; lia.
Qed.

Lemma layers_valueE D : layers_value (bin_of_nat D) = bin_of_nat (up_log 3 D).
Proof. exact: (@ceil_logE 3). Qed.

(* ------------------------------------------------------------------------------------------- *)
(* ReLU attention with a growing stream *)

Section ReluStream.
Variables (R : realFieldType) (n : nat) (g : graph n).
Implicit Types (X : 'M[R]_n) (h : seq 'M[R]_n).

(* Every block is inside, some block is exact. *)
Definition blocks_reach m h :=
  (forall X, X \in h -> inside g m X) /\ (exists2 X, X \in h & exactly g m X).

Lemma blocks_reach_sum m h : blocks_reach m h -> exactly g m (\sum_(X <- h) X).
Proof.
case=> ins [X Xh sX] u v; rewrite summxE.
have f0 Y : Y \in h -> 0 <= Y u v by move/ins => iY; exact: (iY u v).1.
split; first by rewrite big_seq sumr_ge0.
apply/idP/idP => [|nuv].
  apply: contraLR => far; rewrite big_seq big1 ?ltxx // => Y Yh; apply: not_gt0_eq0 (f0 Y Yh) _.
  by apply: contra far; exact: ((ins Y Yh u v).2).
rewrite (perm_big _ (perm_to_rem Xh)) big_cons ltr_pwDl ?(sX u v).2 //.
by rewrite big_seq sumr_ge0 // => Y /mem_rem; exact: f0.
Qed.

Lemma relu_ge0 (x : R) : 0 <= x -> relu x = x.
Proof. by move=> x0; rewrite /relu max_r. Qed.

Lemma relu_layer_reach m h : blocks_reach m h -> blocks_reach (3 * m) (relu_layer h).
Proof.
move=> rh; have [ins [X Xh sX]] := rh; rewrite /relu_layer.
set S := _ *: _; have sS : exactly g (m + m) S.
  have sum : exactly g (m + m) (\sum_(b <- h) b *m b^T).
    rewrite -(big_map (fun b => b *m b^T) xpredT id); apply: blocks_reach_sum; split.
      move=> _ /mapP[b bh ->]; apply: inside_mul; first exact: ins.
      by apply: inside_tr; exact: ins.
    exists (X *m X^T); first exact: (map_f (fun b => b *m b^T)).
    exact: exactly_mul sX (exactly_tr sX).
  move=> u v; rewrite !mxE relu_ge0 ?(sum u v).1 //.
  have n0 : 0 < n%:R^-1 :> R by rewrite invr_gt0 ltr0n; exact: leq_ltn_trans (ltn_ord u).
  by rewrite pmulr_rge0 // pmulr_rgt0 // (sum u v).1 (sum u v).2.
have m3 : (3 * m = m + m + m)%N by lia.
split=> [Y|].
  rewrite mem_cat => /orP[/ins|/mapP[b bh ->]]; first by apply: inside_leq; lia.
  by rewrite m3; apply: inside_mul (exactly_inside sS) (ins _ bh).
exists (S *m X); first by rewrite mem_cat (map_f (mulmx S) Xh) orbT.
by rewrite m3; exact: exactly_mul.
Qed.

(* Claim: connectivity/reach (network="ReLU").
   Blocks of ReLU attention (1/n) ReLU(h h^T) h, appended to a stream that starts as A + I: entry
   (u, v) of the sum of the blocks is positive exactly within distance 3^L, and zero beyond. *)
Theorem relu_reach L u v :
  (0 < (\sum_(X <- relu_stream R g L) X) u v) = within g (3 ^ L) u v.
Proof.
suff rL : blocks_reach (3 ^ L) (relu_stream R g L).
  by rewrite withinE (blocks_reach_sum rL u v).2.
elim: L => [|L IH]; last by rewrite expnS; exact: relu_layer_reach.
have lo := exactly_loops R g.
split=> [X|]; first by rewrite inE => /eqP->; exact: exactly_inside.
by exists (with_loops R g) => //; rewrite inE.
Qed.

End ReluStream.

Lemma appending_layer (R : ringType) n (c : R) W (phi : R -> R) (e : rel 'I_n) L :
  let X := state (@appending R n c W) phi e L in
  state (appending c W) phi e L.+1
  = row_mx X (map_mx phi (X *m W L *m X^T) *m X *m c%:M).
Proof.
rewrite /= /attend big_seq1 /= !mul_mx_row !mulmx0 mulmx1 addr0 add_row_mx addr0 add0r.
by [].
Qed.

(* The hypotheses of nonnegative_weights_fail are met by that stream with any non-negative W. *)
Example appending_nonnegative (R : realDomainType) d (c : R)
    (W : forall l, 'M[R]_(stream_width d.+1.*2 l)) :
  0 <= c -> (forall l, nonnegative (W l)) -> nonnegative_net (appending c W).
Proof.
move=> c0 W0; split=> [i j|i j|l].
- by rewrite mxE ler0n.
- by rewrite mxE.
split=> [h|i j|i j]; last by rewrite mxE.
  rewrite inE => /eqP-> /=; split=> // i j; rewrite mxE; case: split => k; rewrite !mxE //.
  by rewrite mulrn_wge0.
by rewrite mxE; case: split => k; rewrite !mxE ?ler0n.
Qed.

(* ------------------------------------------------------------------------------------------- *)
(* Doublings *)

Lemma doublings_near n (e : rel 'I_n) t i j : doublings e t i j = near e (2 ^ t) i j.
Proof.
elim: t i j => [|t IH] i j; first by rewrite near1.
rewrite expnS mul2n -addnn near_cat /doublings iterS; apply: eq_existsb => k.
by rewrite -!IH.
Qed.

(* Claim: connectivity/log_depth_uniform, the exact number of doublings.
   For every directed or undirected graph, t doublings of A + I know which vertex reaches which
   exactly if t >= ceil(log2 D), D the largest finite distance. *)
Theorem doublings_needed n (e : rel 'I_n) t :
  (forall i j, doublings e t i j = connect e i j) <-> (up_log 2 (diameter e) <= t)%N.
Proof.
have -> : (up_log 2 (diameter e) <= t)%N = (diameter e <= 2 ^ t)%N.
  apply/idP/idP => [|/up_log_min]; last exact.
  by move/(leq_pexp2l (isT : 0 < 2)%N); apply: leq_trans; exact: up_logP.
split=> [dec|dt i j].
  apply/diameter_leP => i j ij; move: (ij).
  by rewrite -dec doublings_near -withinE => /andP[].
rewrite doublings_near; apply/idP/idP => [/near_connect //|ij].
exact: near_leq dt (near_diameter ij).
Qed.

(* Claim: connectivity/log_depth_uniform.
   ceil(log2 n) doublings, of two layers each, decide reachability for every directed or
   undirected graph of n vertices. *)
Theorem log_depth_uniform n (e : rel 'I_n) i j :
  doublings e (up_log 2 n) i j = connect e i j.
Proof.
apply: (doublings_needed e _).2; apply: leq_up_log; apply/diameter_leP => u v _.
exact: distance_max.
Qed.

(* Claim: connectivity/log_depth_uniform, the right-hand side. *)
Definition doubling_layers_value (n : N) : N := 2 * ceil_log 2 n.

Lemma doubling_layers_valueE n :
  doubling_layers_value (bin_of_nat n) = bin_of_nat (2 * up_log 2 n).
Proof.
have := @ceil_logE 2 n isT; rewrite /doubling_layers_value !bin_of_natE => ->.
by rewrite -[(2 * _)%N]/(2 * _)%coq_nat Nat2N.inj_mul.
Qed.

(* ------------------------------------------------------------------------------------------- *)
(* Powers of the adjacency matrix in the ReLU stream *)

Section PowerStream.
Variable R : numDomainType.
Implicit Types (h : seq {poly R}) (b c : {poly R}).

Definition nonneg b := forall j, 0 <= b`_j.

Lemma nonneg_mul b c : nonneg b -> nonneg c -> nonneg (b * c).
Proof. by move=> b0 c0 j; rewrite coefM sumr_ge0 // => i _; rewrite mulr_ge0. Qed.

Lemma coef_mul_gt0 b c j : nonneg b -> nonneg c ->
  reflect (exists2 i, (i <= j)%N & 0 < b`_i /\ 0 < c`_(j - i)) (0 < (b * c)`_j).
Proof.
move=> b0 c0; rewrite coefM sum_gt0 => [|i]; last by rewrite mulr_ge0.
apply: (iffP hasP) => [[i _]|[i ij [bi cj]]].
  by rewrite mulr_ge0_gt0 // => /andP[bi cj]; exists i => //; rewrite -ltnS.
by exists (Ordinal (ij : (i < j.+1)%N)); rewrite ?mem_index_enum ?mulr_gt0.
Qed.

Lemma nonneg_scores h : (forall b, b \in h -> nonneg b) -> nonneg (\sum_(b <- h) b * b).
Proof.
move=> h0 j; rewrite coef_sum big_seq sumr_ge0 // => b /h0 b0; exact: nonneg_mul.
Qed.

Lemma scores_gt0 h j : (forall b, b \in h -> nonneg b) ->
  reflect (exists2 b, b \in h & 0 < (b * b)`_j) (0 < (\sum_(b <- h) b * b)`_j).
Proof.
move=> h0; have f0 b : b \in h -> 0 <= (b * b)`_j.
  by move/h0 => b0; exact: nonneg_mul.
rewrite coef_sum; apply: (iffP idP) => [|[b bh bj]].
  move=> s0; apply/hasP; apply: contraLR s0 => /hasPn no.
  rewrite big_seq big1 ?ltxx // => b bh; apply: not_gt0_eq0 (f0 b bh) (no b bh).
rewrite (perm_big _ (perm_to_rem bh)) big_cons ltr_pwDl //.
by rewrite big_seq sumr_ge0 // => c /mem_rem; exact: f0.
Qed.

Lemma power_layer_nonneg h :
  (forall b, b \in h -> nonneg b) -> forall b, b \in power_layer h -> nonneg b.
Proof.
move=> h0 b; rewrite mem_cat => /orP[/h0 //|/mapP[c ch ->]].
by apply: nonneg_mul; [exact: nonneg_scores | exact: h0].
Qed.

Lemma power_layer_new h a k : (forall b, b \in h -> nonneg b) ->
  holds h a -> holds h k -> holds (power_layer h) (a + a + k).
Proof.
move=> h0 /hasP[b bh ba] /hasP[c ch ck]; rewrite /holds has_cat; apply/orP; right.
apply/hasP; exists ((\sum_(x <- h) x * x) * c); first exact: (map_f (fun x => _ * x)).
apply/coef_mul_gt0; [exact: nonneg_scores | exact: h0|].
exists (a + a)%N; rewrite ?leq_addr // addKn; split=> //.
apply/scores_gt0 => //; exists b => //; apply/coef_mul_gt0; try exact: h0.
by exists a; rewrite ?leq_addr ?addKn.
Qed.

Lemma power_layer_old h j : holds h j -> holds (power_layer h) j.
Proof. by rewrite /holds has_cat => ->. Qed.

Lemma power_layer_only (P Q : pred nat) h : (forall b, b \in h -> nonneg b) ->
  (forall j, P j -> Q j) -> (forall i j k, P i -> P j -> P k -> Q (i + j + k)%N) ->
  (forall j, holds h j -> P j) -> forall j, holds (power_layer h) j -> Q j.
Proof.
move=> h0 PQ sum hP j; rewrite /holds has_cat => /orP[/hP/PQ //|/hasP[_ /mapP[c ch ->]]].
case/coef_mul_gt0 => [||i ij [/scores_gt0[//|b bh]]]; [exact: nonneg_scores | exact: h0|].
case/coef_mul_gt0 => [||a ai [ba bi] ck]; try exact: h0.
have pos x y : x \in h -> 0 < x`_y -> P y by move=> xh xy; apply: hP; apply/hasP; exists x.
have -> : j = (a + (i - a) + (j - i))%N by lia.
by apply: sum; [exact: pos ba | exact: pos bi | exact: pos ck].
Qed.

Lemma power_stream_nonneg start L : (forall b, b \in start -> nonneg b) ->
  forall b, b \in power_stream start L -> nonneg b.
Proof. by move=> s0; elim: L => // L IH; exact: power_layer_nonneg. Qed.

Lemma start_nonneg b : b \in [:: 1; 'X : {poly R}] -> nonneg b.
Proof. by rewrite !inE => /orP[]/eqP-> j; rewrite ?coefX ?coef1 ler0n. Qed.

(* Claim: connectivity/relu_powers.
   In a stream that starts as A, the powers with a positive coefficient are the odd ones up to
   3^L. *)
Theorem relu_powers L j : holds (power_stream [:: 'X : {poly R}] L) j = odd j && (j <= 3 ^ L)%N.
Proof.
have s0 K := @power_stream_nonneg [:: 'X] K.
have {}s0 K b : b \in power_stream [:: 'X : {poly R}] K -> nonneg b.
  by apply: s0 => c; rewrite inE => /eqP-> i; rewrite coefX ler0n.
elim: L j => [|L IH] j.
  rewrite /holds /= orbF coefX ltr0n lt0b expn0.
  by case: j => [|[|j]] //; rewrite [RHS]andbC.
apply/idP/idP.
  apply: (@power_layer_only (fun j => odd j && (j <= 3 ^ L)%N)
    (fun j => odd j && (j <= 3 ^ L.+1)%N) _ (s0 L)) => [i|i k l|i].
  - by rewrite expnS => /andP[-> /=]; lia.
  - by rewrite expnS !oddD => /andP[-> ?] /andP[-> ?] /andP[-> ?] /=; lia.
  - by rewrite IH.
rewrite expnS => /andP[oj j3]; have om : odd (3 ^ L) by rewrite oddX orbT.
have new a k : odd a -> odd k -> (a <= 3 ^ L)%N -> (k <= 3 ^ L)%N -> j = (a + a + k)%N ->
    holds (power_stream [:: 'X : {poly R}] L.+1) j.
  by move=> oa ok am km ->; apply: power_layer_new; rewrite ?IH ?oa ?ok //; exact: s0.
case: (leqP j (3 ^ L)) => [jm|mj]; first by apply: power_layer_old; rewrite IH oj.
move: (3 ^ L)%N om j3 mj new => m om j3 mj new.
case: (leqP j (m + 2)) => [jm2|m2j]; first by apply: (new 1%N (j - 2)%N) => //; lia.
case om2: (odd ((j - m)./2)); first by apply: (new (j - m)./2 m) => //; lia.
by apply: (new (j - m)./2.+1 (m - 2)%N) => //; lia.
Qed.

(* Claim: connectivity/relu_powers_reported (ye2025, Theorem 4.3, as reported), where it holds.
   In a stream that starts as [I, A], every power up to 3^L has a positive coefficient. *)
Theorem relu_powers_both L j : holds (power_stream [:: 1; 'X : {poly R}] L) j = (j <= 3 ^ L)%N.
Proof.
have s0 K b : b \in power_stream [:: 1; 'X : {poly R}] K -> nonneg b.
  by apply: power_stream_nonneg; exact: start_nonneg.
elim: L j => [|L IH] j.
  by rewrite /holds /= orbF coefX coef1 !ltr0n !lt0b expn0; case: j => [|[|j]].
apply/idP/idP.
  apply: (@power_layer_only (fun j => j <= 3 ^ L)%N (fun j => j <= 3 ^ L.+1)%N _ (s0 L))
    => [i|i k l|i]; rewrite ?expnS; try lia.
  by rewrite IH.
rewrite expnS => j3; have p3 : (0 < 3 ^ L)%N by rewrite expn_gt0.
have new a k : (a <= 3 ^ L)%N -> (k <= 3 ^ L)%N -> j = (a + a + k)%N ->
    holds (power_stream [:: 1; 'X : {poly R}] L.+1) j.
  by move=> am km ->; apply: power_layer_new; rewrite ?IH //; exact: s0.
move: (3 ^ L)%N p3 j3 new => m p3 j3 new.
case: (leqP j (2 * m)) => jm; first by apply: (new j./2 (odd j)); lia.
by apply: (new m (j - 2 * m)%N); lia.
Qed.

(* Claim: connectivity/relu_powers_reported, known to FAIL for the universal reading: a stream that
   starts as A lacks A^2 at every depth. *)
Theorem relu_powers_reported_fails L : holds (power_stream [:: 'X : {poly R}] L) 2 = false.
Proof. by rewrite relu_powers. Qed.

(* Claim: connectivity/relu_powers. So (3^L + 1)/2 powers have a positive coefficient. *)
Theorem relu_powers_count L :
  count (holds (power_stream [:: 'X : {poly R}] L)) (iota 0 (3 ^ L).+1) = ((3 ^ L).+1)./2.
Proof.
rewrite (@eq_in_count _ _ odd) => [|j]; last first.
  by rewrite mem_iota relu_powers add0n ltnS => /andP[_ ->]; rewrite andbT.
elim: (3 ^ L).+1 => // k IH; rewrite -addn1 iotaD count_cat IH /= addn0; lia.
Qed.

End PowerStream.

Definition relu_powers_value (L : N) : N := (3 ^ L + 1) / 2.

Lemma relu_powers_valueE L : relu_powers_value (bin_of_nat L) = bin_of_nat (3 ^ L).+1./2.
Proof.
rewrite /relu_powers_value !bin_of_natE (_ : 3%num = N.of_nat 3) // -of_nat_exp.
move: (3 ^ L)%N => m; symmetry.
by apply: (N.div_unique _ 2 _ (N.of_nat (odd m.+1))); lia.
Qed.

(* ------------------------------------------------------------------------------------------- *)
(* Weights that treat all vertices alike *)

Section Equivariant.
Variables (R : ringType) (n : nat) (g : graph n).
Implicit Types X Y : 'M[R]_n.

(* Zero beyond distance m. *)
Definition beyond0 (m : nat) X := forall u v, ~~ near g m u v -> X u v = 0.

Lemma beyond0_leq a b X : (a <= b)%N -> beyond0 a X -> beyond0 b X.
Proof. by move=> ab X0 u v far; apply: X0; apply: contra far; exact: near_leq. Qed.

Lemma beyond0_add m X Y : beyond0 m X -> beyond0 m Y -> beyond0 m (X + Y).
Proof. by move=> X0 Y0 u v far; rewrite mxE X0 ?Y0 ?addr0. Qed.

Lemma beyond0_scale m c X : beyond0 m X -> beyond0 m (c *: X).
Proof. by move=> X0 u v far; rewrite mxE X0 ?mulr0. Qed.

Lemma beyond0_sum m (I : Type) (r : seq I) (X : I -> 'M[R]_n) :
  (forall i, beyond0 m (X i)) -> beyond0 m (\sum_(i <- r) X i).
Proof. by move=> X0 u v far; rewrite summxE big1 // => i _; exact: X0. Qed.

Lemma beyond0_mul a b X Y : beyond0 a X -> beyond0 b Y -> beyond0 (a + b) (X *m Y).
Proof.
move=> X0 Y0 u v far; rewrite mxE big1 // => w _.
have [uw|/X0 ->] := boolP (near g a u w); last by rewrite mul0r.
have [wv|/Y0 ->] := boolP (near g b w v); last by rewrite mulr0.
by case/negP: far; rewrite near_cat; apply/existsP; exists w; rewrite uw.
Qed.

Lemma beyond0_tr m X : beyond0 m X -> beyond0 m X^T.
Proof. by move=> X0 u v; rewrite mxE (near_sym (edge_sym g)); exact: X0. Qed.

Lemma beyond0_map m (phi : R -> R) X : phi 0 = 0 -> beyond0 m X -> beyond0 m (map_mx phi X).
Proof. by move=> p0 X0 u v far; rewrite mxE X0. Qed.

(* Claim: connectivity/reach (that no weights of this kind add reach).
   For every graph, depth, number of blocks and heads, all weights of any sign and every entrywise
   activation of the scores with phi(0) = 0, ReLU among them: every block of the state is zero at
   every pair of vertices that is not connected at distance at most 3^L. *)
Theorem no_equivariant_weights_reach_further (k : nat -> nat)
    (W : forall l, block_weights R (k l) (k l.+1)) (start : 'I_(k 0%N) -> R * R) (phi : R -> R)
    L j u v :
  phi 0 = 0 -> ~~ within g (3 ^ L) u v -> block_state W start phi g L j u v = 0.
Proof.
move=> p0; rewrite withinE; move: u v; rewrite -/(beyond0 _ _).
elim: L j => [|L IH] j /=.
  apply: beyond0_add; apply: beyond0_scale => u v.
    by rewrite near1 negb_or => /andP[/negbTE uv /negbTE e]; rewrite !mxE uv e addr0.
  by rewrite near1 negb_or mxE => /andP[/negbTE-> _].
have mix (c : 'I_(k L) -> R) : beyond0 (3 ^ L) (\sum_a c a *: block_state W start phi g L a).
  by apply: beyond0_sum => a; apply: beyond0_scale; exact: IH.
rewrite /block_attend; apply: beyond0_add; last first.
  by apply: beyond0_leq (mix _); rewrite leq_exp2l.
apply: beyond0_sum => h; have -> : (3 ^ L.+1 = 3 ^ L + 3 ^ L + 3 ^ L)%N by rewrite expnS; lia.
apply: beyond0_mul (mix _); apply: beyond0_map => //.
apply: beyond0_sum => a; apply: beyond0_sum => b; apply: beyond0_scale.
by apply: beyond0_mul; [exact: IH | apply: beyond0_tr; exact: IH].
Qed.

(* Claim: connectivity/reach (that no scalar weights add reach).
   Layers X -> a X + b X X^T X with any scalars, other ones in each layer and of any sign: no
   entry beyond distance 3^L is ever anything but zero. *)
Theorem no_scalar_weights_reach_further (c : nat -> R * R) L u v :
  ~~ within g (3 ^ L) u v -> scaled_cubing g c L u v = 0.
Proof.
rewrite withinE; move: u v; rewrite -/(beyond0 _ _); elim: L => [|L IH] /=.
  by move=> u v; rewrite near1 negb_or => /andP[/negbTE uv /negbTE e]; rewrite !mxE uv e addr0.
apply: beyond0_add; apply: beyond0_scale; first by apply: (beyond0_leq _ IH); rewrite leq_exp2l.
have -> : (3 ^ L.+1 = 3 ^ L + 3 ^ L + 3 ^ L)%N by rewrite expnS; lia.
by apply: (beyond0_mul _ IH); apply: (beyond0_mul IH); exact: beyond0_tr.
Qed.

End Equivariant.

(* One head of ReLU attention whose output is added to two blocks meets the hypotheses, with
   weights of both signs. *)
Example two_blocks (R : realDomainType) n (g : graph n) L j u v :
  ~~ within g (3 ^ L) u v ->
  block_state (R := R) (k := fun _ => 2%N)
    (fun _ => BlockWeights [:: (1%:M - const_mx 1, const_mx (-1))] 1%:M)
    (fun j => (1, - (j : nat)%:R)) (@relu R) g L j u v = 0.
Proof. by apply: no_equivariant_weights_reach_further; rewrite /relu max_r. Qed.

(* The smallest case of no_weights_reach_further with one layer: two paths of 5 vertices, as in
   connectivity/nonnegative_weights_fail with weights="every". Every 10 x 10 matrix W of scores,
   of any sign, errs in some labelling, for every threshold. *)
Example one_layer_two_paths_of_five (R : realDomainType) (W : 'M[R]_10) (t : R) (u v : 'I_10) :
  u != v ->
  exists s : {perm 'I_10}, let g := relabel (two_paths 5) s in let X := with_loops R g in
    (t < (X *m W *m X^T *m X) u v) != connect g u v.
Proof.
move=> uv; pose N := @Net R 10 (fun _ => 10%N) (fun _ => Weights [:: (W, 1%:M)] 0 0) 1%:M 0.
have [s err] := @no_weights_reach_further R 4 u v uv N 1 (delta_mx v u) t isT.
exists s => g X; move: err; rewrite trace_delta /= /attend big_seq1 /= mulmx0 !addr0 !mulmx1.
by rewrite (_ : map_mx id _ = X *m W *m X^T) //; apply/matrixP => i j; rewrite mxE.
Qed.

(* ------------------------------------------------------------------------------------------- *)
(* The theorems with the numbers that claims compare *)

(* Claim: connectivity/reach. The farthest pair with a positive entry after L layers. *)
Corollary reached_distance_checked (R : numDomainType) n (g : graph n) L :
  (\max_(u < n) \max_(v < n | (0 < cubing R g L u v)%R) distance g u v
   = nat_of_bin (reach_value (bin_of_nat L) (bin_of_nat (diameter g))))%N.
Proof. by rewrite reach_valueE bin_of_natK; apply: reached_distance. Qed.

(* Claim: connectivity/row_reach. The farthest pair of rows with a positive product. *)
Corollary row_distance_checked (R : numDomainType) n (g : graph n) L :
  (\max_(u < n) \max_(v < n | (0 < (cubing R g L *m (cubing R g L)^T) u v)%R) distance g u v
   = nat_of_bin (row_reach_value (bin_of_nat L) (bin_of_nat (diameter g))))%N.
Proof. by rewrite row_reach_valueE bin_of_natK; apply: row_distance. Qed.

(* Claim: connectivity/layers_for_diameter. L layers decide all pairs exactly from this depth on. *)
Corollary layers_for_diameter_checked (R : numDomainType) n (g : graph n) L :
  (forall u v, (0 < cubing R g L u v) = connect g u v)
  <-> (nat_of_bin (layers_value (bin_of_nat (diameter g))) <= L)%N.
Proof. by rewrite layers_valueE bin_of_natK; apply: layers_for_diameter. Qed.

(* Claim: connectivity/least_layers_all_weights. Some weights of L layers and some linear read-out
   decide in every labelling whether two vertices are connected exactly from this depth on. *)
Corollary least_layers_all_weights_checked (R : realDomainType) d (u v : 'I_d.+1.*2) L : u != v ->
  (exists (N : net R d.+1.*2) (C : 'M[R]_(width N L, d.+1.*2)) (t : R),
     forall s, let e := relabel (two_paths d.+1) s in
       (t < \tr (C *m state N id e L)) = connect e u v)
  <-> (nat_of_bin (layers_value (bin_of_nat d)) <= L)%N.
Proof. by move=> uv; rewrite layers_valueE bin_of_natK; apply: least_layers_all_weights. Qed.

(* Claim: connectivity/least_layers_row_readout. The same with read-outs that multiply entries of
   the output with each other, and the number for half the distance. *)
Corollary least_layers_row_readout_checked (R : realDomainType) d (u v : 'I_d.+1.*2) L : u != v ->
  (exists (N : net R d.+1.*2) (C : 'M[R]_d.+1.*2) (C' : 'M[R]_(width N L)) (t : R),
     forall s, let e := relabel (two_paths d.+1) s in let X := state N id e L in
       (t < \tr (C *m X *m C' *m X^T)) = connect e u v)
  <-> (nat_of_bin (row_layers_value (bin_of_nat d)) <= L)%N.
Proof. by move=> uv; rewrite row_layers_valueE bin_of_natK; apply: least_layers_row_readout. Qed.

(* Claim: connectivity/log_depth_uniform. So many layers, two for each doubling, decide whether i
   and j are connected. *)
Corollary log_depth_uniform_checked n (e : rel 'I_n) i j :
  doublings e (nat_of_bin (doubling_layers_value (bin_of_nat n)))./2 i j = connect e i j.
Proof. by rewrite doubling_layers_valueE bin_of_natK mul2n doubleK log_depth_uniform. Qed.

(* Claim: connectivity/relu_powers. So many powers of the adjacency matrix up to 3^L are in the
   stream of ReLU attention after L layers. *)
Corollary relu_powers_checked (R : numDomainType) L :
  count (holds (power_stream [:: 'X : {poly R}] L)) (iota 0 (3 ^ L).+1)
  = nat_of_bin (relu_powers_value (bin_of_nat L)).
Proof. by rewrite relu_powers_valueE bin_of_natK relu_powers_count. Qed.

(* Claim: connectivity/nonnegative_weights_fail. One threshold on the sum of the blocks of ReLU
   attention that appends its output, with any non-negative weights of L layers in the scores, does
   not tell in every labelling of two paths of diameter d > 3^L whether two vertices are
   connected, whichever two they are. *)
Corollary nonnegative_weights_checked (R : realDomainType) L d (c : R)
    (W : forall l, 'M[R]_(stream_width d.+1.*2 l)) (t : R) (u v : 'I_d.+1.*2) :
  (3 ^ L < d)%N -> 0 <= c -> (forall l, nonnegative (W l)) -> u != v ->
  exists s : {perm 'I_d.+1.*2}, let e := relabel (two_paths d.+1) s in
    (t < (state (appending c W) (@relu R) e L *m stacked R d.+1.*2 L) u v) != connect e u v.
Proof.
move=> Ld c0 W0 uv; have N0 := appending_nonnegative c0 W0.
pose C : 'M[R]_(width (appending c W) L, d.+1.*2) := stacked R d.+1.*2 L *m delta_mx v u.
have [s err] := nonnegative_weights_fail uv C t N0 Ld.
by exists s; move: err; rewrite mxtrace_mulC mulmxA mxtrace_mulC trace_delta.
Qed.

(* A path of 11 vertices. Two layers see nine edges far, also with weights 1/2 and 3 in place of 1,
   and the ends stay at zero, also with weights of both signs. *)
Example path_of_11 (u v : 'I_11) (g := path_graph 11) :
  (0 < scaled_cubing (R := (rat : numDomainType)) g (fun _ => (2%:R^-1, 3%:R)) 2 u v)
    = (distance g u v <= 9)%N
  /\ (exists x, exists2 y, connect g x y & cubing (rat : numDomainType) g 2 x y = 0)
  /\ scaled_cubing (R := (int : ringType)) g (fun l => (1, - l%:R)) 2 ord0 ord_max = 0.
Proof.
split; first by rewrite reach_scaled // /within connect_path.
split; first by apply: too_few_layers; rewrite diameter_path.
by apply: no_scalar_weights_reach_further; rewrite /within distance_path andbF.
Qed.

(* Three layers decide all pairs of it, two do not. *)
Example path_layers L : (forall u v, (0 < cubing (rat : numDomainType) (path_graph 11) L u v)
  = connect (path_graph 11) u v) <-> (3 <= L)%N.
Proof. by rewrite layers_for_diameter_checked diameter_path. Qed.

(* Four doublings know what is connected in it, three do not. *)
Example path_doublings t :
  (forall i j : 'I_11, doublings (path_graph 11) t i j = connect (path_graph 11) i j)
  <-> (4 <= t)%N.
Proof. by rewrite doublings_needed diameter_path. Qed.

(* Two paths of diameter 10, the ends of one: whatever the weights, three layers are needed with
   linear read-outs, and two with inner products of rows. *)
Example two_paths_layers (u v : 'I_22) L : u != v ->
  (exists (N : net (int : ringType) 22) (C : 'M_(width N L, 22)) t,
     forall s, let e := relabel (two_paths 11) s in
       (t < \tr (C *m state N id e L)) = connect e u v) <-> (3 <= L)%N.
Proof. exact: (@least_layers_all_weights_checked (int : realDomainType) 10). Qed.
Example two_paths_row_layers (u v : 'I_22) L : u != v ->
  (exists (N : net (int : ringType) 22) (C : 'M_22) (C' : 'M_(width N L)) t,
     forall s, let e := relabel (two_paths 11) s in let X := state N id e L in
       (t < \tr (C *m X *m C' *m X^T)) = connect e u v) <-> (2 <= L)%N.
Proof. exact: (@least_layers_row_readout_checked (int : realDomainType) 10). Qed.

(* One layer of ReLU attention that appends its output, with scores of weight 1: it errs on two
   paths of 5 vertices. *)
Example relu_two_paths_of_five (u v : 'I_10)
    (N := appending 1 (fun l => const_mx 1 : 'M[int]_(stream_width 10 l))) C t : u != v ->
  exists s : {perm 'I_10}, let g := relabel (two_paths 5) s in
    (t < \tr (C *m state N (@relu _) g 1)) != connect g u v.
Proof.
move=> uv; apply: (@nonnegative_weights_fail (int : realDomainType) 4 u v uv N 1 C t) => //.
by apply: appending_nonnegative => // l i j; rewrite mxE.
Qed.

(* Two layers of it on two paths of diameter 10, the same with every threshold on its four
   blocks. *)
Example relu_two_paths_of_eleven (u v : 'I_22) t
    (N := appending 1 (fun l => const_mx 1 : 'M[int]_(stream_width 22 l))) : u != v ->
  exists s : {perm 'I_22}, let e := relabel (two_paths 11) s in
    (t < (state N (@relu _) e 2 *m stacked _ 22 2) u v) != connect e u v.
Proof.
move=> uv; apply: (@nonnegative_weights_checked (int : realDomainType) 2 10) => // l i j.
by rewrite mxE.
Qed.
