(* Graphs, distances, and the linearised-attention net that cubes an adjacency matrix. *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm zify.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* A simple undirected graph on the vertices 0..n-1. *)
Record graph (n : nat) := Graph {
  edge :> rel 'I_n;
  edge_sym : symmetric edge;
  edge_irr : irreflexive edge
}.

Section Distance.
Variables (n : nat) (e : rel 'I_n).

(* A walk of exactly k edges; its vertices may repeat. *)
Fixpoint walk (k : nat) (u v : 'I_n) : bool :=
  if k is k'.+1 then [exists w, e u w && walk k' w v] else u == v.

(* The length of a shortest walk, and n between components: what breadth-first search gives. *)
Definition distance (u v : 'I_n) : nat := find (fun k => walk k u v) (iota 0 n).

(* u and v are connected, and at distance at most m. *)
Definition within (m : nat) (u v : 'I_n) : bool := connect e u v && (distance u v <= m)%N.

(* The largest finite distance of two vertices. *)
Definition diameter : nat := \max_(u < n) \max_(v < n | connect e u v) distance u v.

(* A walk of at most m edges. Lemma withinE shows that this is the same as `within`. *)
Definition near (m : nat) (u v : 'I_n) : bool := [exists k : 'I_m.+1, walk k u v].

Lemma nearP m u v : reflect (exists2 k, (k <= m)%N & walk k u v) (near m u v).
Proof.
apply: (iffP existsP) => [[k wk]|[k km wk]]; first by exists k => //; rewrite -ltnS.
by exists (Ordinal (km : (k < m.+1)%N)).
Qed.

Lemma walk_cat a b u w v : walk a u w -> walk b w v -> walk (a + b) u v.
Proof.
elim: a u => [|a IH] u /=; first by move=> /eqP->.
case/existsP=> x /andP[ux xw] wv; apply/existsP; exists x; rewrite ux /=.
exact: IH wv.
Qed.

Lemma walk_split a b u v : walk (a + b) u v -> exists2 w, walk a u w & walk b w v.
Proof.
elim: a u => [|a IH] u /=; first by exists u.
case/existsP=> x /andP[ux /IH[w xw wv]]; exists w => //.
by apply/existsP; exists x; rewrite ux.
Qed.

Lemma walkP k u v : reflect (exists2 p, path e u p & last u p = v /\ size p = k) (walk k u v).
Proof.
elim: k u => [|k IH] u /=.
  apply: (iffP eqP) => [->|[p _ [uv /size0nil p0]]]; first by exists [::].
  by rewrite p0 in uv.
apply: (iffP existsP) => [[w /andP[uw /IH[p pw [wv pk]]]]|[[|w p]]].
- by exists (w :: p) => /=; [rewrite uw | rewrite pk].
- by move=> _ [].
- by move=> /= /andP[uw pw] [wv [pk]]; exists w; rewrite uw; apply/IH; exists p.
Qed.

Lemma walk_connect k u v : walk k u v -> connect e u v.
Proof. by case/walkP=> p pu [<- _]; apply/connectP; exists p. Qed.

(* Two connected vertices have a walk of fewer than n edges. *)
Lemma connect_walk u v : connect e u v -> exists2 k, (k < n)%N & walk k u v.
Proof.
case/connectP=> p pu ->; case: (shortenP pu) => q qu qq _.
exists (size q); last by apply/walkP; exists q.
by have /card_uniqP/= <- := qq; rewrite -[X in (_ <= X)%N](card_ord n) max_card.
Qed.

Lemma distance_max u v : (distance u v <= n)%N.
Proof. by rewrite /distance -[X in (_ <= X)%N](size_iota 0 n) find_size. Qed.

Lemma distance_walk u v : connect e u v -> walk (distance u v) u v.
Proof.
case/connect_walk=> k kn wk.
have hs : has (fun k => walk k u v) (iota 0 n) by apply/hasP; exists k; rewrite ?mem_iota.
have := nth_find 0%N hs; rewrite nth_iota // -[X in (_ < X)%N](size_iota 0 n).
by rewrite -has_find.
Qed.

Lemma distance_least k u v : walk k u v -> (distance u v <= k)%N.
Proof.
move=> wk; rewrite leqNgt; apply/negP => kd.
have kn : (k < n)%N := leq_trans kd (distance_max u v).
by have := before_find 0%N kd; rewrite nth_iota // wk.
Qed.

Lemma distance_lt u v : (distance u v < n)%N = connect e u v.
Proof.
apply/idP/idP => [dn|/connect_walk[k kn /distance_least dk]]; last exact: leq_ltn_trans dk kn.
have hs : has (fun k => walk k u v) (iota 0 n) by rewrite has_find size_iota.
have := nth_find 0%N hs; rewrite nth_iota //; exact: walk_connect.
Qed.

Lemma withinE m u v : within m u v = near m u v.
Proof.
apply/idP/nearP => [/andP[/distance_walk wd dm]|[k km wk]]; first by exists (distance u v).
by rewrite /within (walk_connect wk) (leq_trans (distance_least wk)).
Qed.

Lemma near_cat a b u v : near (a + b) u v = [exists w, near a u w && near b w v].
Proof.
apply/nearP/existsP => [[k kab wk]|[w /andP[/nearP[i ia ui] /nearP[j jb jv]]]]; last first.
  by exists (i + j)%N; [rewrite leq_add | exact: walk_cat jv].
have kE : k = (minn k a + (k - minn k a))%N by rewrite subnKC // geq_minl.
move: wk; rewrite {}kE => /walk_split[w uw wv]; exists w; apply/andP; split; apply/nearP.
  by exists (minn k a); rewrite ?geq_minr.
by exists (k - minn k a)%N => //; lia.
Qed.

Lemma near_leq a b u v : (a <= b)%N -> near a u v -> near b u v.
Proof. by move=> ab /nearP[k ka wk]; apply/nearP; exists k => //; exact: leq_trans ab. Qed.

Lemma near0 u v : near 0 u v = (u == v).
Proof.
apply/nearP/idP => [[k]|/eqP<-]; first by rewrite leqn0 => /eqP->.
by exists 0%N => /=.
Qed.

Lemma near1 u v : near 1 u v = (u == v) || e u v.
Proof.
apply/nearP/idP => [[[|[|k]] //= _]|/orP[/eqP<-|uv]].
- by move->.
- by case/existsP=> w /andP[uw /eqP<-]; rewrite uw orbT.
- by exists 0%N => /=.
- by exists 1%N => //=; apply/existsP; exists v; rewrite uv /=.
Qed.

Lemma near_refl m u : near m u u.
Proof. by apply: (@near_leq 0); rewrite ?near0. Qed.

Lemma near_connect m u v : near m u v -> connect e u v.
Proof. by case/nearP=> k _; exact: walk_connect. Qed.

Lemma near_diameter u v : connect e u v -> near diameter u v.
Proof.
move=> uv; rewrite -withinE /within uv /= /diameter.
apply: leq_trans (leq_bigmax u).
exact: (@leq_bigmax_cond _ (fun v => connect e u v) (fun v => distance u v) v uv).
Qed.

(* A vertex at every smaller distance. *)
Lemma geodesic u v m :
  connect e u v -> (m <= distance u v)%N -> exists2 w, connect e u w & distance u w = m.
Proof.
move=> uv md; have := distance_walk uv; rewrite -(subnKC md) => /walk_split[w uw wv].
exists w; first exact: walk_connect uw.
apply/eqP; rewrite eqn_leq distance_least //= leqNgt; apply/negP => dm.
have wd := distance_walk (walk_connect uw).
have := distance_least (walk_cat wd wv); lia.
Qed.

(* The diameter is attained. *)
Lemma diameter_attained (u0 : 'I_n) :
  exists u, exists2 v, connect e u v & distance u v = diameter.
Proof.
have n0 : (0 < #|'I_n|)%N by apply/card_gt0P; exists u0.
rewrite /diameter; case: (eq_bigmax (fun u => \max_(v < n | connect e u v) distance u v) n0).
move=> u ->; have c0 : (0 < #|[pred v | connect e u v]|)%N.
  by apply/card_gt0P; exists u; rewrite inE connect0.
case: (eq_bigmax_cond (fun v => distance u v) c0) => v; rewrite inE => uv dv.
by exists u; exists v => //; rewrite -dv.
Qed.

(* The diameter is below m iff no connected pair is farther. *)
Lemma diameter_leP m :
  reflect (forall u v, connect e u v -> (distance u v <= m)%N) (diameter <= m)%N.
Proof.
apply: (iffP idP) => [dm u v uv|dm].
  by have := near_diameter uv; rewrite -withinE => /andP[_ /leq_trans]; apply.
by apply/bigmax_leqP => u _; apply/bigmax_leqP => v; exact: dm.
Qed.

End Distance.

Lemma walk_sym n (e : rel 'I_n) : symmetric e -> forall k u v, walk e k u v = walk e k v u.
Proof.
move=> es k u v.
suff sub x y : walk e k x y -> walk e k y x by apply/idP/idP; exact: sub.
elim: k x => [|k IH] x; first by rewrite /= eq_sym.
case/existsP=> w /andP[xw /IH yw]; rewrite -addn1; apply: walk_cat yw _.
by apply/existsP; exists x; rewrite es xw /=.
Qed.

Lemma near_sym n (e : rel 'I_n) : symmetric e -> forall m u v, near e m u v = near e m v u.
Proof. by move=> es m u v; apply: eq_existsb => k; rewrite walk_sym. Qed.

Section Net.
Variables (R : ringType) (n : nat).
Implicit Types X : 'M[R]_n.

(* The adjacency matrix, without self-loops. *)
Definition adjacency (e : rel 'I_n) : 'M[R]_n := \matrix_(u, v) (e u v)%:R.

(* With self-loops, A + I: row u is the token of vertex u. *)
Definition with_loops (e : rel 'I_n) : 'M[R]_n := adjacency e + 1%:M.

(* One layer of linearised attention with identity weights, query x key x value. *)
Definition cube X : 'M[R]_n := X *m X^T *m X.

(* L layers on A + I. *)
Definition cubing (e : rel 'I_n) (L : nat) : 'M[R]_n := iter L cube (with_loops e).

(* The same with scalar weights: layer l maps X to c_l.1 X + c_l.2 X X^T X. Weights (1, 1) are the
   residual connection, (0, 1) none. *)
Definition scaled_cube (c : R * R) X : 'M[R]_n := c.1 *: X + c.2 *: cube X.
Fixpoint scaled_cubing (e : rel 'I_n) (c : nat -> R * R) (L : nat) : 'M[R]_n :=
  if L is l.+1 then scaled_cube (c l) (scaled_cubing e c l) else with_loops e.

(* Powers of a matrix of any size; for size n.+1 they are those of the ring. *)
Definition mpow X (k : nat) : 'M[R]_n := iter k (mulmx X) 1%:M.

End Net.

Arguments adjacency R {n} e.
Arguments with_loops R {n} e.
Arguments cubing R {n} e L.

Lemma mpowE (R : ringType) n (X : 'M[R]_n.+1) k : mpow X k = X ^+ k.
Proof. by elim: k => // k IH; rewrite exprS -IH. Qed.

(* The path 0 - 1 - ... - (n-1). *)
Definition path_edge n : rel 'I_n := fun u v => (u.+1 == v :> nat) || (v.+1 == u :> nat).
Lemma path_edge_sym n : symmetric (@path_edge n).
Proof. by move=> u v; rewrite /path_edge orbC. Qed.
Lemma path_edge_irr n : irreflexive (@path_edge n).
Proof. by move=> u; rewrite /path_edge orbb eqn_leq ltnn. Qed.
Definition path_graph n : graph n := Graph (@path_edge_sym n) (@path_edge_irr n).

(* Two disjoint paths of m vertices each. Vertex x lies at place x./2 of path number x % 2. *)
Definition two_paths_edge m : rel 'I_m.*2 :=
  fun x y => (odd x == odd y) && ((x./2.+1 == y./2) || (y./2.+1 == x./2)).
Lemma two_paths_sym m : symmetric (@two_paths_edge m).
Proof. by move=> x y; rewrite /two_paths_edge eq_sym orbC. Qed.
Lemma two_paths_irr m : irreflexive (@two_paths_edge m).
Proof. by move=> x; rewrite /two_paths_edge eqxx orbb eqn_leq ltnn. Qed.
Definition two_paths m : graph m.*2 := Graph (@two_paths_sym m) (@two_paths_irr m).

(* The same graph with other labels: label x stands on vertex s x. *)
Definition relabel n (g : graph n) (s : {perm 'I_n}) : graph n :=
  @Graph n (fun x y => g (s x) (s y)) (fun x y => edge_sym g (s x) (s y))
    (fun x => edge_irr g (s x)).
