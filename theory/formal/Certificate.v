(* Certificates of separation ranks that the kernel reads: weights, tokens and an inverse modulo p,
   all of them lists of whole numbers. The output of the net is computed at these weights and all
   pairs of tokens of the two sides; where the matrix of its values, times the inverse, is 1 modulo
   p, the separation rank of almost all weights is at least the number of its rows.

   The net stands in LinearAttention.v, the names of its weights in Degree.v. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ssrZ.
From mathcomp Require Import mpoly.
From Depthlaw Require Import LinearAttention Degree Counts SeparationRank.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* --- what is computed ------------------------------------------------------------------------- *)

(* Matrices as lists of rows. *)
Definition rows := seq (seq Z).
Definition entry (A : rows) (i j : nat) : Z := nth Z0 (nth [::] A i) j.
Definition table (m n : nat) (f : nat -> nat -> Z) : rows := mkseq (fun i => mkseq (f i) n) m.
Definition total (k : nat) (f : nat -> Z) : Z := foldr (fun l s => Z.add (f l) s) Z0 (iota 0 k).
Definition times (m k n : nat) (A B : rows) : rows :=
  table m n (fun i j => total k (fun l => Z.mul (entry A i l) (entry B l j))).
Definition flip (m n : nat) (A : rows) : rows := table m n (fun i j => entry A j i).
Definition plus (m n : nat) (A B : rows) : rows :=
  table m n (fun i j => Z.add (entry A i j) (entry B i j)).

Section Computed.
Variables (L H a d n h m : nat).
(* The weights by layer, head and matrix: query, key, value and output, by rows. *)
Variable data : seq (seq (seq rows)).
Definition weights l h k : rows := nth [::] (nth [::] (nth [::] data l) h) k.

(* The matrix of a layer and of a net, from the second moments, as in layer_matrix, net_matrix. *)
Definition head_rows (w : nat -> rows) (M : rows) : rows :=
  let T := times d d d (times d a d (w 3%N) (w 2%N)) M in
  times d a d (times d d a T (flip d a (w 1%N))) (w 0%N).
Definition layer_rows (l : nat) (M : rows) : rows :=
  foldr (fun h T => plus d d (head_rows (weights l h) M) T) (table d d (fun _ _ => Z0)) (iota 0 H).
Fixpoint net_rows (ls : seq nat) (M : rows) : rows :=
  if ls is l :: rest then
    let T := layer_rows l M in
    times d d d (net_rows rest (times d d d (times d d d T M) (flip d d T))) T
  else table d d (fun i j => if i == j then Z.one else Z0).

(* The tokens: the first h are those of x, the others those of z. *)
Definition token (x z : rows) (j q : nat) : Z := if (j < h)%N then entry x j q else entry z j q.
Definition moment_rows (x z : rows) : rows :=
  table d d (fun q r => total n (fun j => Z.mul (token x z j q) (token x z j r))).
Definition output_value (i p : nat) (x z : rows) : Z :=
  let M := net_rows (iota 0 L) (moment_rows x z) in
  total d (fun q => Z.mul (entry M p q) (token x z i q)).
Definition values (i p : nat) (xs zs : seq rows) : rows :=
  table m m (fun s t => output_value i p (nth [::] xs s) (nth [::] zs t)).

(* Whether the values times B are 1 modulo a prime, or any number above 1. *)
Definition certified (prime : Z) (i p : nat) (xs zs : seq rows) (B : rows) : bool :=
  let P := times m m m (values i p xs zs) B in
  Z.ltb Z.one prime && all (fun s => all (fun t =>
    Z.eqb (Z.modulo (entry P s t) prime) (if s == t then Z.one else Z0)) (iota 0 m)) (iota 0 m).

End Computed.

(* --- it computes the net ---------------------------------------------------------------------- *)

Definition mx (m n : nat) (A : rows) : 'M[Z]_(m, n) := \matrix_(i, j) entry A i j.

Lemma entry_table m n f i j : (i < m)%N -> (j < n)%N -> entry (table m n f) i j = f i j.
Proof. by move=> im jn; rewrite /entry /table !nth_mkseq. Qed.

Lemma mx_table m n f : mx m n (table m n f) = \matrix_(i, j) f i j.
Proof. by apply/matrixP => i j; rewrite !mxE entry_table. Qed.

Lemma totalE k f : total k f = \sum_(l < k) f l.
Proof.
rewrite -(big_mkord xpredT f) /total /index_iota subn0.
by elim: (iota 0 k) => [|l s IH]; rewrite ?big_nil ?big_cons //= IH.
Qed.

Lemma mx_times m k n A B : mx m n (times m k n A B) = mx m k A *m mx k n B.
Proof.
rewrite /times mx_table; apply/matrixP => i j; rewrite !mxE totalE.
by apply: eq_bigr => l _; rewrite !mxE.
Qed.

Lemma mx_flip m n A : mx m n (flip m n A) = (mx n m A)^T.
Proof. by rewrite /flip mx_table; apply/matrixP => i j; rewrite !mxE. Qed.

Lemma mx_plus m n A B : mx m n (plus m n A B) = mx m n A + mx m n B.
Proof. by rewrite /plus mx_table; apply/matrixP => i j; rewrite !mxE. Qed.

Section Correct.
Variables (L H a d n h m : nat) (data : seq (seq (seq rows))) (R : comRingType).
Local Notation rows_of := (weights data).

Definition head_of (w : nat -> rows) : head (Z : comRingType) d a :=
  Head (mx a d (w 0%N)) (mx a d (w 1%N)) (mx a d (w 2%N)) (mx d a (w 3%N)).

Lemma layer_rowsE l M : mx d d (layer_rows H a d data l M) =
  layer_matrix [seq head_of (rows_of l h) | h <- iota 0 H] (mx d d M).
Proof.
rewrite /layer_rows /layer_matrix; elim: (iota 0 H) => [|k s IH] /=.
  by rewrite big_nil mx_table; apply/matrixP => i j; rewrite !mxE.
by rewrite big_cons mx_plus IH; congr (_ + _); rewrite /head_rows !mx_times mx_flip.
Qed.

Lemma net_rowsE ls M : mx d d (net_rows H a d data ls M) =
  net_matrix [seq [seq head_of (rows_of l h) | h <- iota 0 H] | l <- ls] (mx d d M).
Proof.
elim: ls M => [|l ls IH] M /=.
  rewrite mx_table; apply/matrixP => i j; rewrite !mxE -val_eqE /=; by case: eqP.
by rewrite mx_times IH !mx_times mx_flip !layer_rowsE.
Qed.

(* The weights of the lists by their names. *)
Definition named (t : weight_name L H a d) : Z :=
  let: (l, h, k, r, q) := t in
  if k == inord 3 then entry (rows_of l h 3) q r else entry (rows_of l h k) r q.

Lemma net_of_named : net_of named =
  [seq [seq head_of (rows_of l h) | h <- iota 0 H] | l <- iota 0 L].
Proof.
rewrite -!val_enum_ord -map_comp; apply: eq_map => l /=; rewrite -map_comp; apply: eq_map => k /=.
have other (x : nat) : (x < 3)%N -> (inord x == inord 3 :> 'I_4) = false.
  by case: x => [|[|[|x]]] // _; rewrite -val_eqE /= !inordK.
rewrite /head_of; congr Head; apply/matrixP => s t; rewrite !mxE ?eqxx ?other // inordK //.
Qed.

Variables (i : 'I_n) (p : 'I_d) (xs zs : seq rows).

Definition side : {set 'I_n} := [set j : 'I_n | (j < h)%N].
Definition tokens_of (x : rows) (j : 'I_n) : 'cV[Z]_d := \col_q entry x j q.

Lemma output_valueE x z : output_value L H a d n h data i p x z =
  output_sides false (net_of named) i p side (tokens_of x) (tokens_of z).
Proof.
rewrite /output_sides normal_form net_of_named.
have tok j q : two_sides side (tokens_of x) (tokens_of z) j q 0 = token h x z j q.
  by rewrite /two_sides /token inE; case: ifP => _; rewrite mxE.
have -> : moments (two_sides side (tokens_of x) (tokens_of z)) = mx d d (moment_rows d n h x z).
  rewrite /moments /moment_rows mx_table; apply/matrixP => q r; rewrite summxE mxE totalE.
  by apply: eq_bigr => j _; rewrite mxE big_ord1 mxE !tok.
rewrite -net_rowsE mxE /output_value totalE; apply: eq_bigr => q _.
by rewrite tok mxE.
Qed.

End Correct.

(* A whole matrix that has an inverse modulo p has a determinant that is not zero. *)
Lemma inverse_mod (m : nat) (V B : 'M[Z]_m) (prime : Z) : Z.lt Z.one prime ->
  (forall s t, Z.modulo ((V *m B) s t) prime = (s == t)%:R) -> \det V != 0.
Proof.
move=> p1 E; case: prime p1 E => [|k|k] // p1 E; pose q := Pos.to_nat k.
have q1 : (1 < q)%N.
  by apply/ltP; rewrite /q; have := Pos2Nat.inj_lt xH k; case => + _; apply.
pose f := ((intr : int -> 'Z_q) \o int_of_Z : {rmorphism _ -> _}).
have fp : f (Zpos k) = 0 by rewrite /= -[Pos.to_nat k]/q -pmulrn char_Zp.
have one : map_mx f V *m map_mx f B = 1%:M.
  rewrite -map_mxM; apply/matrixP => s t; rewrite !mxE -[RHS](rmorph_nat f) -E mxE.
  move: (\sum_(j < m) V s j * B j t) => x.
  rewrite {1}(Z.div_mod x (Zpos k)) //.
  rewrite -[Z.add _ _]/(Zpos k * Z.div x (Zpos k) + Z.modulo x (Zpos k)).
  by rewrite rmorphD rmorphM fp mul0r add0r.
apply/eqP => V0; have /(congr1 determinant) := one.
rewrite det_mulmx det_map_mx V0 rmorph0 mul0r det1 => /eqP.
by rewrite eq_sym oner_eq0.
Qed.

Section Bridge.
Variables (L H a d n h m : nat) (data : seq (seq (seq rows))) (prime : Z).
Variables (i : 'I_n) (p : 'I_d) (xs zs : seq rows) (B : rows).
Hypothesis checked : certified L H a d n h m data prime i p xs zs B.
Local Notation f := (int_of_Z : {rmorphism _ -> _}).

Let w0 (t : weight_name L H a d) : int := f (named data t).
Let X (s : 'I_m) (j : 'I_n) : 'cV[int]_d := map_mx f (tokens_of d (nth [::] xs s) j).
Let Y (t : 'I_m) (j : 'I_n) : 'cV[int]_d := map_mx f (tokens_of d (nth [::] zs t) j).

Lemma certified_minor : \det (value_matrix (output_at false i p (side n h) w0) X Y) != 0.
Proof.
pose wZ : weight_name L H a d -> Z := named data.
pose V : 'M[Z]_m := value_matrix (output_at false i p (side n h) wZ)
  (fun s => tokens_of d (nth [::] xs s)) (fun t => tokens_of d (nth [::] zs t)).
have -> : value_matrix (output_at false i p (side n h) w0) X Y = map_mx f V.
  apply/matrixP => s t; rewrite !mxE /output_at (output_sides_image f).
  by rewrite net_of_map.
have VE : V = mx m m (values L H a d n h m data i p xs zs).
  by rewrite /values mx_table; apply/matrixP => s t; rewrite !mxE output_valueE.
have VN : \det V != 0.
  move: checked; rewrite /certified => /andP[/Z.ltb_spec0 p1 /allP ok].
  apply: (inverse_mod (B := mx m m B) p1) => s t.
  rewrite VE -mx_times mxE.
  have /allP/(_ (val t)) := ok (val s) ltac:(by rewrite mem_iota ltn_ord).
  rewrite mem_iota ltn_ord => /(_ isT)/Z.eqb_spec ->.
  by rewrite -val_eqE /=; case: eqP.
rewrite det_map_mx; apply: contra VN => /eqP z.
by apply/eqP/(can_inj int_of_ZK); rewrite z rmorph0.
Qed.

Let minor_int : \det (value_matrix (output_at false i p (side n h)
  (fun t => (w0 t)%:~R : (int : comRingType)))
  (fun s j => map_mx intr (X s j)) (fun t j => map_mx intr (Y t j))) != 0.
Proof. by rewrite minor_image intz; apply: certified_minor. Qed.

(* A certificate that is accepted, of m rows: over every ring of characteristic 0, such as the
   reals, there is a polynomial in the weights, not zero, outside of whose zeros the separation rank
   is at least m. The net has n tokens, the first h of them on one side; coordinate p at position i
   is read. *)
Theorem certificate_computed (R : comRingType) : (forall k, (0 < k)%N -> k%:R != 0 :> R) ->
  exists2 G : {mpoly R[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> R, G.@[fun k => w (enum_val k)] != 0 ->
      forall r, sep_le (output_sides false (net_of w) i p (side n h)) r -> (m <= r)%N.
Proof. exact: modular_certificate minor_int R. Qed.

(* Where m is S(d, L), that is the separation rank. *)
Theorem certificate_computed_exact (R : comRingType) :
  S_value (bin_of_nat d) (bin_of_nat L) = bin_of_nat m ->
  (forall k, (0 < k)%N -> k%:R != 0 :> R) ->
  exists2 G : {mpoly R[#|weight_name L H a d|]}, G != 0 &
    forall w : weight_name L H a d -> R, G.@[fun k => w (enum_val k)] != 0 ->
      sep_rank (output_sides false (net_of w) i p (side n h)) m.
Proof.
rewrite S_valueE; last exact: leq_trans (ltn_ord p).
move=> /(congr1 nat_of_bin); rewrite !bin_of_natK => /esym mS char0.
by have := certificate_exact minor_int mS char0; rewrite -mS.
Qed.

End Bridge.
