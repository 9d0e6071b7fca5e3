(* Linearised self-attention over any commutative ring, as in
   theory/separation_rank/linear_attention.py (Levine et al. 2020, eqs. (3)-(4)):

     y^{l+1,i} = sum_h W^O_h sum_j <W^Q_h y^{l,i}, W^K_h y^{l,j}> W^V_h y^{l,j},   y^{0,i} = x^i.

   All n positions attend. There is no softmax, feed-forward block or layer norm. With residual
   connections a layer adds its input to its output. A layer has any number of heads, and heads
   may differ in number from layer to layer. The read-out is one coordinate p of the output at one
   position i. The nets are transformers (Bridges.linear_transformer). *)
From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(* --- the objects ------------------------------------------------------------------------------ *)

Section Objects.
Variables (R : comRingType) (d a n : nat).

(* The weights of one head: d is the width, a the width of the head. *)
Record head := Head {
  query : 'M[R]_(a, d);
  key : 'M[R]_(a, d);
  value : 'M[R]_(a, d);
  output : 'M[R]_(d, a) }.

Definition dot m (u v : 'cV[R]_m) : R := \sum_k u k 0 * v k 0.

Definition attend (w : head) (y : 'I_n -> 'cV[R]_d) (i : 'I_n) : 'cV[R]_d :=
  output w *m \sum_j dot (query w *m y i) (key w *m y j) *: (value w *m y j).

Definition layer (residual : bool) (heads : seq head) (y : 'I_n -> 'cV[R]_d) (i : 'I_n) :
    'cV[R]_d :=
  (if residual then y i else 0) + \sum_(w <- heads) attend w y i.

(* The net: layers from first to last, each the list of its heads. *)
Fixpoint net (residual : bool) (layers : seq (seq head)) (x : 'I_n -> 'cV[R]_d) :
    'I_n -> 'cV[R]_d :=
  if layers is heads :: rest then net residual rest (layer residual heads x) else x.

(* The second moments of the tokens, the matrix of a layer and the matrix of a net. *)
Definition moments (y : 'I_n -> 'cV[R]_d) : 'M[R]_d := \sum_j y j *m (y j)^T.

Definition layer_matrix (heads : seq head) (M : 'M[R]_d) : 'M[R]_d :=
  \sum_(w <- heads) output w *m value w *m M *m (key w)^T *m query w.

Fixpoint net_matrix (layers : seq (seq head)) (M : 'M[R]_d) : 'M[R]_d :=
  if layers is heads :: rest then
    let T := layer_matrix heads M in net_matrix rest (T *m M *m T^T) *m T
  else 1%:M.

End Objects.

Arguments Head {R d a}.

(* --- the same net over another ring ----------------------------------------------------------- *)

Section Images.
Variables (R S : comRingType) (f : {rmorphism R -> S}) (d a n : nat).

Definition head_map (w : head R d a) : head S d a :=
  Head (map_mx f (query w)) (map_mx f (key w)) (map_mx f (value w)) (map_mx f (output w)).

Definition net_map (layers : seq (seq (head R d a))) := map (map head_map) layers.

Lemma dot_image m (u v : 'cV[R]_m) : f (dot u v) = dot (map_mx f u) (map_mx f v).
Proof. by rewrite /dot rmorph_sum; apply: eq_bigr => k _; rewrite rmorphM !mxE. Qed.

Lemma eq_layer (T : comRingType) residual heads (y z : 'I_n -> 'cV[T]_d) :
  y =1 z -> layer (a := a) residual heads y =1 layer residual heads z.
Proof.
move=> yz i; rewrite /layer yz; congr (_ + _); apply: eq_bigr => w _.
rewrite /attend yz; congr (_ *m _); apply: eq_bigr => j _; by rewrite yz.
Qed.

Lemma eq_net (T : comRingType) residual layers (y z : 'I_n -> 'cV[T]_d) :
  y =1 z -> net (a := a) residual layers y =1 net residual layers z.
Proof. by elim: layers y z => //= heads rest IH y z yz; apply/IH/eq_layer. Qed.

Lemma layer_image residual heads (y : 'I_n -> 'cV[R]_d) i :
  map_mx f (layer residual heads y i) =
  layer residual (map head_map heads) (fun j => map_mx f (y j)) i.
Proof.
rewrite /layer map_mxD; congr (_ + _); first by case: residual; rewrite ?map_mx0.
rewrite big_map; elim: heads => [|w heads IH]; first by rewrite !big_nil map_mx0.
rewrite !big_cons map_mxD IH; congr (_ + _).
rewrite /attend map_mxM; congr (_ *m _); rewrite raddf_sum; apply: eq_bigr => j _.
by rewrite /= map_mxZ dot_image !map_mxM.
Qed.

(* A ring morphism passes through the net: so the polynomial that the output is, evaluated at
   tokens, is the output at these tokens. *)
Theorem net_image residual layers (x : 'I_n -> 'cV[R]_d) i :
  map_mx f (net residual layers x i) =
  net residual (net_map layers) (fun j => map_mx f (x j)) i.
Proof.
elim: layers x => //= heads rest IH x; rewrite IH.
by apply: eq_net => j; rewrite layer_image.
Qed.

Lemma layer_matrix_image (heads : seq (head R d a)) M :
  map_mx f (layer_matrix heads M) = layer_matrix (map head_map heads) (map_mx f M).
Proof.
rewrite /layer_matrix big_map raddf_sum; apply: eq_bigr => w _.
by rewrite /= !map_mxM -map_trmx.
Qed.

Lemma net_matrix_image (layers : seq (seq (head R d a))) M :
  map_mx f (net_matrix layers M) = net_matrix (net_map layers) (map_mx f M).
Proof.
elim: layers M => [|heads rest IH] M /=; first exact: map_mx1.
by rewrite map_mxM IH !map_mxM -map_trmx layer_matrix_image.
Qed.

End Images.

Arguments head_map {R S} f {d a} w.
Arguments net_map {R S} f {d a} layers.

(* --- the normal form -------------------------------------------------------------------------- *)

Section NormalForm.
Variables (R : comRingType) (d a n : nat).
Implicit Types (y x : 'I_n -> 'cV[R]_d) (heads : seq (head R d a)).

Lemma dot_mx m (u v : 'cV[R]_m) : (v^T *m u) = (dot u v)%:M.
Proof.
apply/matrixP => i j; rewrite !ord1 !mxE eqxx mulr1n; apply: eq_bigr => k _.
by rewrite mxE mulrC.
Qed.

Lemma layer_normal heads y i :
  layer false heads y i = layer_matrix heads (moments y) *m y i.
Proof.
rewrite /layer add0r /layer_matrix mulmx_suml; apply: eq_bigr => w _.
rewrite /attend /moments -!mulmxA; congr (_ *m _).
rewrite mulmx_suml mulmx_sumr; apply: eq_bigr => j _.
rewrite -(mulmxA (y j)) (mulmxA (y j)^T) -trmx_mul dot_mx mul_mx_scalar.
by rewrite -scalemxAr.
Qed.

Lemma moments_layer heads y (T := layer_matrix heads (moments y)) :
  moments (layer false heads y) = T *m moments y *m T^T.
Proof.
rewrite {1}/moments mulmx_sumr mulmx_suml; apply: eq_bigr => j _.
by rewrite layer_normal trmx_mul !mulmxA.
Qed.

(* Claim: separation_rank/moments_degree, its normal form (Python: normal_form).
   Without residual connections the output at any position is a matrix, which depends on the
   tokens by their second moments only, times the token at that position:
   T_L(M_L) ... T_1(M_1) x_i with M_1 = M and M_{l+1} = T_l(M_l) M_l T_l(M_l)^T. For all weights,
   any number of heads, layers, tokens and any width. *)
Theorem normal_form layers x i :
  net false layers x i = net_matrix (R := R) (a := a) layers (moments x) *m x i.
Proof.
elim: layers x => [|heads rest IH] x /=; first by rewrite mul1mx.
by rewrite IH moments_layer layer_normal mulmxA.
Qed.

(* Moments stay symmetric. *)
Lemma moments_sym x : (moments x)^T = moments x.
Proof.
rewrite /moments raddf_sum; apply: eq_bigr => j _ /=.
by rewrite trmx_mul trmxK.
Qed.

End NormalForm.
