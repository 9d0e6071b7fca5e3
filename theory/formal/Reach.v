(* Reach: L layers of X -> X X^T X on A + I see exactly as far as 3^L. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra zify.
From depthlaw Require Import Graph.

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
rewrite -iY; apply/idP/idP => [|Y0]; last by rewrite ltr_paddl ?mulr_ge0 ?dY.
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

(* Claim: connectivity/row_reach, the right-hand side Min(2 * 3**depth, diameter). *)
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
