(* k-hop retrieval in floor(log2 k) + 2 layers of one causal head: a score that skips the token
   itself, in floating point.

   The object is the executed net of theory/hops/self_skipping_lookup.py. Words and pointers are
   those of Hops.v: letters are numbers below A, positions are 1, ..., N, position 0 is the start
   token. A score is an inner product of four features of the query's token and four of the key's,
   exact or rounded. The nets are transformers (Bridges.self_skip_transformer). That a softmax comes
   near hard attention stays informal. *)

From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Depthlaw Require Import Hops.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* --- nets of one causal head a layer --- *)

Section Nets.

Variable F : realFieldType.

(* The visible token j <= i of greatest score; None where two tie. *)
Definition attend (score : nat -> F) (i : nat) : option nat :=
  let visible := iota 0 i.+1 in
  if [seq j <- visible | all (fun j' => score j' <= score j) visible] is [:: j]
  then Some j else None.

(* A token holds w whole numbers, at first what `embed` makes of its place and letter. Of them
   `query` and `key` make d features, and `update` makes what it holds next, together with those of
   the token that it attends to; `answer` reads them. All are any functions, for each layer. *)
Record net (d w : nat) := Net
  { embed : nat -> option nat -> w.-tuple nat;
    query : nat -> w.-tuple nat -> d.-tuple F;
    key : nat -> w.-tuple nat -> d.-tuple F;
    update : nat -> w.-tuple nat -> w.-tuple nat -> w.-tuple nat;
    answer : w.-tuple nat -> option nat }.

(* How inner products of features are computed: exactly, or with an error of at most eps times the
   sum of the products' sizes. The latter is what sums of rounded products have in floating point,
   in whichever order. *)
Definition arithmetic (d : nat) := d.-tuple F -> d.-tuple F -> F.
Definition exact d : arithmetic d := fun q c => \sum_(f < d) tnth q f * tnth c f.
Definition rounded d (eps : F) (dot : arithmetic d) := forall q c,
  `|dot q c - exact q c| <= eps * \sum_(f < d) `|tnth q f * tnth c f|.

(* What token i of the word X holds after L layers. Ties leave a token as it is. *)
Fixpoint run d w (dot : arithmetic d) (f : net d w) (X : seq nat) (L i : nat) : w.-tuple nat :=
  if L is l.+1 then
    let own := run dot f X l i in
    if attend (fun j => dot (query f l own) (key f l (run dot f X l j))) i is Some j
    then update f l own (run dot f X l j) else own
  else embed f i (symbol X i).

Definition output d w (dot : arithmetic d) (f : net d w) X L i : option nat :=
  answer f (run dot f X L i).

(* A floating-point number of a mantissa of at most m and an exponent of at most e, in size. *)
Definition floating (m e : nat) (x : F) :=
  exists a b : int, [/\ x = a%:~R * 2%:R ^ b, (`|a| <= m)%N & (`|b| <= e)%N].

Lemma attend_unique score i j :
  (j <= i)%N -> (forall j', (j' <= i)%N -> j' != j -> score j' < score j) ->
  attend score i = Some j.
Proof.
move=> ji most; rewrite /attend.
suff -> : [seq x <- iota 0 i.+1 | all (fun j' => score j' <= score x) (iota 0 i.+1)]
          = [:: j] by [].
have jin : j \in iota 0 i.+1 by rewrite mem_iota add0n ltnS.
rewrite -(filter_pred1_uniq (iota_uniq 0 i.+1) jin).
apply: eq_in_filter => x; rewrite mem_iota leq0n add0n ltnS andTb => xi; rewrite [RHS]/=.
have [->|xj] := eqVneq x j.
  apply/allP => j'; rewrite mem_iota leq0n add0n ltnS andTb => j'i.
  by have [->|j'j] := eqVneq j' j => //; apply/ltW/most.
by apply/negbTE/negP => /allP /(_ j jin); apply/negP; rewrite -ltNge; apply: most.
Qed.

Lemma exact_rounded d : rounded 0 (@exact d).
Proof. by move=> q c; rewrite subrr normr0 mul0r. Qed.

End Nets.

(* --- the net --- *)

Section Construction.

Variable F : realFieldType.

(* Letters as numbers; 0 is that of the start token. *)
Definition code (x : option nat) : nat := if x is Some y then y.+1 else 0%N.
Definition decode (n : nat) : option nat := if n is y.+1 then Some y else None.

(* What a token holds: place, letter, find^(2^t), and its answer. *)
Definition state (place own aim says : nat) : 4.-tuple nat := [tuple place; own; aim; says].
Definition place (s : 4.-tuple nat) : nat := nth 0%N s 0.
Definition own (s : 4.-tuple nat) : nat := nth 0%N s 1.
Definition aim (s : 4.-tuple nat) : nat := nth 0%N s 2.
Definition says (s : 4.-tuple nat) : nat := nth 0%N s 3.

(* Layer 1: with u = base^(j - i) the inner product is u (1 - 2 (x - y)^2) - skip u^2 for letters x
   of the query and y of the key, and u - skip u^2 for the start token; see `last_before`. *)
Definition match_query (base : F) (s : 4.-tuple nat) : 4.-tuple F :=
  let u := base ^- place s in let x := (own s)%:R in [tuple u; u * x ^+ 2; u * x; u ^+ 2].
Definition match_key (base skip : F) (s : 4.-tuple nat) : 4.-tuple F :=
  let u := base ^+ place s in let y := (own s)%:R in
  if place s is 0 then [tuple 1; 0; 0; - skip]
  else [tuple u * (1 - 2%:R * y ^+ 2); - (2%:R * u); 4%:R * y * u; - skip * u ^+ 2].

(* Later layers: the inner product is 2 p j - j^2 = p^2 - (p - j)^2 at the token p that is meant. *)
Definition lookup_query (s : 4.-tuple nat) : 4.-tuple F := [tuple (aim s)%:R; 1; 0; 0].
Definition lookup_key (s : 4.-tuple nat) : 4.-tuple F :=
  [tuple 2%:R * (place s)%:R; - (place s)%:R ^+ 2; 0; 0].

(* A pointer is one place behind the token that layer 1 finds, unless that is the start token. *)
Definition point (a b : 4.-tuple nat) : 4.-tuple nat :=
  state (place a) (own a) (if place b is 0 then 0 else (place b).+1) (says a).
Definition double (digit : bool) (a b : 4.-tuple nat) : 4.-tuple nat :=
  state (place a) (own a) (aim b) (if digit then says b else says a).

(* The net for k hops: digit t of k adds the hops of layer t + 2. *)
Definition hop_net (base skip : F) (k : nat) : net F 4 4 :=
  {| embed i x := state i (code x) 0 (code x);
     query l := if l is 0 then match_query base else lookup_query;
     key l := if l is 0 then match_key base skip else lookup_key;
     update l := if l is t.+1 then double (odd (k %/ 2 ^ t)) else point;
     answer s := decode (says s) |}.

Lemma codeK : cancel code decode. Proof. by case. Qed.

Lemma code_inj : injective code. Proof. exact: can_inj codeK. Qed.

(* --- the scores --- *)

Lemma exactE (a b c d a' b' c' d' : F) :
  exact [tuple a; b; c; d] [tuple a'; b'; c'; d'] = a * a' + b * b' + c * c' + d * d'.
Proof. by rewrite /exact !big_ord_recl big_ord0 !(tnth_nth 0) /= addr0 !addrA. Qed.

Lemma sizesE (a b c d a' b' c' d' : F) :
  \sum_(f < 4) `|tnth [tuple a; b; c; d] f * tnth [tuple a'; b'; c'; d'] f|
  = `|a * a'| + `|b * b'| + `|c * c'| + `|d * d'|.
Proof. by rewrite !big_ord_recl big_ord0 !(tnth_nth 0) /= addr0 !addrA. Qed.

Lemma far (x y : nat) : x != y -> 1 <= (x%:R - y%:R) ^+ 2 :> F.
Proof.
case: (ltngtP x y) => // lt _; [rewrite -sqrrN opprB|];
  by rewrite -(natrB _ (ltnW lt)) exprn_ege1 // ler1n subn_gt0.
Qed.

Section Rounded.

Variables (eps : F) (dot : arithmetic F 4) (A N : nat).
Hypothesis rounding : rounded eps dot.
Hypothesis precise : eps * (64 * (A + N + 1) ^ 2)%N%:R <= 1.

Lemma within q c (u : F) n : 0 <= u -> (n <= 8 * (A + N + 1) ^ 2)%N ->
  \sum_(f < 4) `|tnth q f * tnth c f| <= u * n%:R ->
  8%:R * exact q c - u <= 8%:R * dot q c <= 8%:R * exact q c + u.
Proof.
move=> u0 nAN sizes; rewrite -ler_distl -mulrBr normrM ger0_norm ?ler0n //.
apply: le_trans (ler_wpM2l _ (rounding q c)) _; first exact: ler0n.
set S := \sum_(_ < _) _ in sizes *; have S0 : 0 <= S by apply: sumr_ge0.
have [eps0|/ltW eps0] := lerP 0 eps; last first.
  by apply: le_trans u0; rewrite mulr_ge0_le0 ?ler0n // mulr_le0_ge0.
apply: (@le_trans _ _ (8%:R * (eps * (u * n%:R)))); first by rewrite !ler_wpM2l ?ler0n.
have -> : 8%:R * (eps * (u * n%:R)) = u * (eps * (8 * n)%N%:R) by rewrite natrM; ring.
rewrite -[leRHS]mulr1 ler_wpM2l //; apply: le_trans precise; rewrite ler_wpM2l // ler_nat.
by move: nAN; set m := (_ ^ 2)%N; lia.
Qed.

Section SelfSkip.

Variables (t : F) (x aims says : nat -> nat) (i : nat).
Hypothesis base : 4%:R <= t.
Hypothesis letters : forall j, (x j <= A)%N.
Let token j := state j (x j) (aims j) (says j).
Let score j := dot (match_query t (token i)) (match_key t 2%:R (token j)).
Let u j := t ^- i * t ^+ j.
Let matching j := (j == 0%N) || (x j == x i).

Let t0 : 0 < t. Proof. by apply: lt_le_trans base; rewrite ltr0n. Qed.
Let u0 j : 0 < u j. Proof. by rewrite mulr_gt0 ?invr_gt0 ?exprn_gt0. Qed.
Let ui : u i = 1. Proof. by rewrite /u mulVf // expf_neq0 // gt_eqF. Qed.

Let u_step j j' : (j < j')%N -> 4%:R * u j <= u j'.
Proof.
move=> /subnKC <-; rewrite addSnnS; set m := (j' - _)%N.
have -> : u (j + m.+1) = t ^+ m.+1 * u j by rewrite /u exprD mulrA mulrC.
rewrite ler_pM2r ?u0 // exprS; apply: le_trans base _; rewrite ler_pMr ?t0 //.
by apply: exprn_ege1; apply: le_trans base; rewrite ler1n.
Qed.

Let u_le1 j : (j <= i)%N -> u j <= 1.
Proof.
rewrite leq_eqVlt => /orP [/eqP ->|/u_step]; first by rewrite ui.
by rewrite ui; apply: le_trans; apply: (ler_peMl (ltW (u0 j))); rewrite ler1n.
Qed.

Let scoreE j : exact (match_query t (token i)) (match_key t 2%:R (token j))
  = u j * (if j is 0 then 1 else 1 - 2%:R * ((x i)%:R - (x j)%:R) ^+ 2) - 2%:R * u j ^+ 2.
Proof.
rewrite /u /match_query /match_key /place /own; case: j => [|j] /=; rewrite exactE.
  by rewrite expr0; ring.
by ring.
Qed.

Let bounds j (s := exact (match_query t (token i)) (match_key t 2%:R (token j))) :
  (j <= i)%N -> 8%:R * s - u j <= 8%:R * score j <= 8%:R * s + u j.
Proof.
move=> ji; have uj0 : 0 <= u j := ltW (u0 j); have sq : u j ^+ 2 <= u j.
  by rewrite expr2 (ger_pMl _ (u0 j)) u_le1.
have x0 k : 0 <= (x k)%:R :> F by apply: ler0n.
have ti0 : 0 <= t ^- i by rewrite invr_ge0 exprn_ge0 // ltW.
have tj0 : 0 <= t ^+ j by rewrite exprn_ge0 // ltW.
apply: (within (n := 3 + 2 * (x i + x j) ^ 2)); first exact: uj0.
  have le : (x i + x j <= 2 * (A + N))%N by have := letters i; have := letters j; lia.
  move: le; set c := addn (x i) _; set m := addn A N; rewrite -leq_sqr expnMn sqrnD.
  by clear; lia.
have -> : u j * (3 + 2 * (x i + x j) ^ 2)%:R
    = u j * (1 + 2%:R * ((x i)%:R + (x j)%:R) ^+ 2) + 2%:R * u j.
  by rewrite natrD natrM natrX natrD; ring.
apply: le_trans (_ : u j * (1 + 2%:R * ((x i)%:R + (x j)%:R) ^+ 2) + 2%:R * u j ^+ 2 <= _).
  rewrite /match_query /match_key /place /own.
  have norm_neg (a b : F) : 0 <= a -> 0 <= b -> `|a * - b| <= a * b.
    by move=> a0 b0; rewrite mulrN normrN ger0_norm ?mulr_ge0.
  have norm_pos (a b : F) : 0 <= a -> 0 <= b -> `|a * b| <= a * b.
    by move=> a0 b0; rewrite ger0_norm ?mulr_ge0.
  case: (j) tj0 => [|j'] tj0 /=; rewrite sizesE.
    have n1 := @norm_pos (t ^- i) 1 ti0 ler01.
    have n4 := @norm_neg (t ^- i ^+ 2) 2%:R (exprn_ge0 _ ti0) (ler0n _ _).
    rewrite !mulr0 normr0 !addr0; apply: le_trans (lerD n1 n4) _.
    rewrite /u expr0 -subr_ge0.
    rewrite [X in 0 <= X](_ : _ = 2%:R * t ^- i * ((x i)%:R + (x 0%N)%:R) ^+ 2); last by ring.
    by rewrite mulr_ge0 ?exprn_ge0 ?addr_ge0 // mulr_ge0 ?ler0n.
  set y := x j'.+1; set w := t ^+ j'.+1 in tj0 *.
  have n1 : `|t ^- i * (w * (1 - 2%:R * y%:R ^+ 2))| <= t ^- i * w * (1 + 2%:R * y%:R ^+ 2).
    rewrite mulrA normrM (ger0_norm (mulr_ge0 ti0 tj0)) ler_wpM2l ?mulr_ge0 //.
    apply: le_trans (ler_normB _ _) _; rewrite normr1 ger0_norm //.
    by rewrite mulr_ge0 ?exprn_ge0 ?ler0n.
  have n2 := @norm_neg (t ^- i * (x i)%:R ^+ 2) (2%:R * w)
    (mulr_ge0 ti0 (exprn_ge0 _ (x0 i))) (mulr_ge0 (ler0n _ _) tj0).
  have n3 := @norm_pos (t ^- i * (x i)%:R) (4%:R * y%:R * w)
    (mulr_ge0 ti0 (x0 i)) (mulr_ge0 (mulr_ge0 (ler0n _ _) (x0 _)) tj0).
  have n4 := @norm_neg (t ^- i ^+ 2) (2%:R * w ^+ 2)
    (exprn_ge0 _ ti0) (mulr_ge0 (ler0n _ _) (exprn_ge0 _ tj0)).
  rewrite mulNr; apply: le_trans (lerD (lerD (lerD n1 n2) n3) n4) _.
  rewrite le_eqVlt /u -/w -/y; apply/orP; left; apply/eqP; ring.
by rewrite lerD2l ler_wpM2l // ler0n.
Qed.

Let ahead j : (j < i)%N -> matching j -> 3%:R * u j <= 8%:R * score j.
Proof.
move=> ji same; have /andP [lo _] := bounds (ltnW ji); apply: le_trans lo.
rewrite scoreE (_ : (if j is 0 then 1 else _) = 1); last first.
  by case: (j) same => // j' /= /eqP ->; rewrite subrr expr0n mulr0 subr0.
have le1 : 4%:R * u j <= 1 by have := u_step ji; rewrite ui.
rewrite -subr_ge0 in le1; set w := u j in le1 *; have w0 : 0 <= w := ltW (u0 j).
rewrite -subr_ge0 [X in 0 <= X](_ : _ = 4%:R * (w * (1 - 4%:R * w))); last by ring.
by apply: mulr_ge0; [apply: ler0n | apply: mulr_ge0].
Qed.

(* Claim: hops/depth_printed_floating, layer 1. Of the tokens before i with its letter the later one
   scores more, the start token, which matches every letter, less than all of them but more than 0;
   the token itself and the tokens of other letters score less than 0. With any base t >= 4. *)
Theorem self_skip :
  [/\ forall j j', (j < j' < i)%N -> matching j -> matching j' -> score j < score j',
      forall j, (j < i)%N -> matching j -> 0 < score j
    & forall j, (0 < j <= i)%N -> (j == i) || (x j != x i) -> score j < 0].
Proof.
have pos n (a : F) : (0 < n)%N -> (0 < n%:R * a) = (0 < a).
  by move=> n0; rewrite pmulr_rgt0 // ltr0n.
split.
- move=> j j' /andP [jj' j'i] mj mj'; have ji := ltn_trans jj' j'i.
  rewrite -subr_gt0 -(pos 32%N) //.
  have /andP [_ hi] := bounds (ltnW ji).
  have lo := ahead j'i mj'; have st := u_step jj'.
  have hi' : 8%:R * score j <= 9%:R * u j.
    apply: le_trans hi _; rewrite scoreE (_ : (if j is 0 then 1 else _) = 1); last first.
      by case: (j) mj => // k /= /eqP ->; rewrite subrr expr0n mulr0 subr0.
    rewrite -subr_ge0 [X in 0 <= X](_ : _ = 16%:R * u j ^+ 2); last by ring.
    by rewrite mulr_ge0 ?ler0n // exprn_ge0 // ltW.
  have d1 : 0 <= 8%:R * score j' - 3%:R * u j' by rewrite subr_ge0.
  have d2 : 0 <= 9%:R * u j - 8%:R * score j by rewrite subr_ge0.
  have d3 : 0 <= u j' - 4%:R * u j by rewrite subr_ge0.
  have d4 : 0 < 4%:R * (3%:R * u j) by rewrite !pos.
  have posd n (a : F) : 0 <= a -> 0 <= n%:R * a by move=> a0; apply: mulr_ge0; first exact: ler0n.
  rewrite [X in 0 < X](_ : _ =
    4%:R * (8%:R * score j' - 3%:R * u j') + 4%:R * (9%:R * u j - 8%:R * score j)
      + 12%:R * (u j' - 4%:R * u j) + 4%:R * (3%:R * u j)); last by ring.
  by apply: ltr_wpDl d4; rewrite !addr_ge0 // posd.
- move=> j ji mj; rewrite -(pos 8%N) //; apply: lt_le_trans (ahead ji mj).
  by rewrite pos.
- move=> j /andP [j0 ji] other; rewrite -oppr_gt0 -(pos 8%N) //.
  have /andP [_ hi] := bounds ji; move: hi; rewrite scoreE.
  have -> : (if j is 0 then 1 else 1 - 2%:R * ((x i)%:R - (x j)%:R) ^+ 2)
    = 1 - 2%:R * ((x i)%:R - (x j)%:R) ^+ 2 :> F by case: (j) j0.
  rewrite mulrN oppr_gt0 => hi; apply: le_lt_trans hi _; rewrite -oppr_gt0.
  case/orP: other => [/eqP ->|neq].
    rewrite ui subrr expr0n /= [X in 0 < X](_ : _ = 7%:R); last by ring.
    by rewrite ltr0n.
  have ge1 := far neq; rewrite -subr_ge0 in ge1.
  have sq : 0 <= u j ^+ 2 by rewrite exprn_ge0 // ltW.
  set d := (x j)%:R - (x i)%:R in ge1.
  rewrite -sqrrN opprB -/d
    [X in 0 < X](_ : _ = 7%:R * u j + (16%:R * (u j * (d ^+ 2 - 1)) + 16%:R * u j ^+ 2));
    last by ring.
  apply: ltr_wpDr; last by rewrite pos.
  apply: addr_ge0; apply: mulr_ge0; rewrite ?ler0n //.
  by apply: mulr_ge0; first exact: ltW.
Qed.

End SelfSkip.

(* Layer 1 attends to the last earlier token of its letter, else to the start token: one place
   before find^1. *)
Lemma last_before (X : seq nat) (aims says : nat -> nat) i
    (token := fun j => state j (code (symbol X j)) (aims j) (says j)) :
  (forall j, code (symbol X j) <= A)%N ->
  attend (fun j => dot (match_query 4%:R (token i)) (match_key 4%:R 2%:R (token j))) i
    = Some (find1 X i).-1.
Proof.
move=> letters.
have [later above below] :=
  @self_skip 4%:R (fun j => code (symbol X j)) aims says i (lexx _) letters.
case: find1P => [none|j /andP [j2 ji] same last].
  apply: attend_unique => // j ji j0; have jp : (0 < j)%N by rewrite lt0n.
  have neg : dot (match_query 4%:R (token i)) (match_key 4%:R 2%:R (token j)) < 0.
    apply: below; first by rewrite jp.
    case: ltngtP ji => // lt _ /=; rewrite (inj_eq code_inj).
    by apply: (none j.+1); rewrite !ltnS jp.
  by apply: lt_trans neg _; apply: above => //; apply: leq_trans ji.
apply: attend_unique; first by lia.
move=> j' j'i j'j; have [lt|ge] := ltnP j' j.-1.
  have [m|] := boolP ((j' == 0%N) || (code (symbol X j') == code (symbol X i))).
    apply: later => //; first by lia.
    by rewrite same eqxx orbT.
  rewrite negb_or => /andP [j'0 neq]; apply: (@lt_trans _ _ 0).
    by apply: below; [lia | rewrite neq orbT].
  by apply: above; [lia | rewrite same eqxx orbT].
apply: (@lt_trans _ _ 0); last by apply: above; [lia | rewrite same eqxx orbT].
apply: below; first by lia.
have [//|neq /=] := eqVneq j' i; rewrite (inj_eq code_inj).
by apply: (last j'.+1); lia.
Qed.

Lemma lookup_score a b : exact (lookup_query a) (lookup_key b)
  = (aim a)%:R ^+ 2 - ((aim a)%:R - (place b)%:R) ^+ 2.
Proof. by rewrite /lookup_query /lookup_key exactE; ring. Qed.

Lemma lookup_within a b : (aim a <= N)%N -> (place b <= N)%N ->
  8%:R * exact (lookup_query a) (lookup_key b) - 1 <= 8%:R * dot (lookup_query a) (lookup_key b)
  <= 8%:R * exact (lookup_query a) (lookup_key b) + 1.
Proof.
move=> aN bN; apply: (within (n := 2 * (aim a * place b) + place b ^ 2)); first exact: ler01.
  have := leq_mul aN bN; have : (place b ^ 2 <= N ^ 2)%N by rewrite leq_sqr.
  rewrite -mulnn -[(N ^ 2)%N]mulnn; set P := (_ * N)%N => le1 le2.
  have : (P <= (A + N + 1) ^ 2)%N by rewrite /P mulnn leq_sqr; lia.
  by move: (_ ^ 2)%N => Q; lia.
rewrite /lookup_query /lookup_key sizesE !mulr0 normr0 !addr0 mul1r.
rewrite normrN !ger0_norm ?mulr_ge0 ?exprn_ge0 ?ler0n // mul1r natrD natrX !natrM.
by rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(* Later layers attend to the token that is meant. *)
Lemma lookup_at (s : nat -> 4.-tuple nat) i :
  (i <= N)%N -> (forall j, (j <= i)%N -> place (s j) = j) -> (aim (s i) <= i)%N ->
  attend (fun j => dot (lookup_query (s i)) (lookup_key (s j))) i = Some (aim (s i)).
Proof.
move=> iN places ai; apply: attend_unique => // j ji ja; set p := aim (s i) in ai ja *.
have pN := leq_trans ai iN; have jN := leq_trans ji iN.
have /andP [_ hi] : _ := @lookup_within (s i) (s j) pN ltac:(by rewrite places).
have /andP [lo _] : _ := @lookup_within (s i) (s p) pN ltac:(by rewrite places).
have eight : 0 < 8%:R :> F by rewrite ltr0n.
rewrite -(ltr_pM2l eight); apply: le_lt_trans hi _; apply: lt_le_trans lo.
rewrite !lookup_score !places // -/p subrr expr0n subr0.
have ge1 := @far p j ltac:(by rewrite eq_sym).
rewrite -subr_gt0 [X in 0 < X](_ : _ = 8%:R * ((p%:R - j%:R) ^+ 2 - 1) + 6%:R); last by ring.
by apply: ltr_wpDl; [apply: mulr_ge0; rewrite ?ler0n // subr_ge0 | rewrite ltr0n].
Qed.

End Rounded.
End Construction.

(* --- what it computes --- *)

Section Correct.

Variables (F : realFieldType) (eps : F) (dot : arithmetic F 4) (A k : nat) (X : seq nat).
Let N := size X.
Hypothesis rounding : rounded eps dot.
Hypothesis precise : eps * (64 * (A + N + 1) ^ 2)%N%:R <= 1.
Hypothesis letters : all (fun x => x < A)%N X.
Let f := hop_net (4%:R : F) 2%:R k.

Lemma code_symbol i : (code (symbol X i) <= A)%N.
Proof.
have [i0|] := boolP (0 < i <= size X)%N.
  by have [x -> xX] := symbol_some i0; apply: (allP letters).
case: i => // i; rewrite andTb -ltnNge ltnS /symbol /= => iX.
by rewrite nth_default // size_map.
Qed.

(* After layer t + 1 a token knows find^(2^t), and the hops of the digits below t. *)
Lemma run_after t i : (i <= N)%N ->
  run dot f X t.+1 i = state i (code (symbol X i)) (pointer X (2 ^ t) i)
                         (code (hop X (k %% 2 ^ t) i)).
Proof.
elim: t i => [|t IH] i iN.
  rewrite /= (last_before rounding precise (fun _ => 0%N) (fun j => code (symbol X j))); last first.
    exact: code_symbol.
  rewrite /point /place /own /says /= modn1 /hop /pointer /=; congr state.
  by case: find1P => [//|j /andP [j2 _] _ _]; case: j j2 => [|[|j]].
have -> : run dot f X t.+2 i =
    let own := run dot f X t.+1 i in
    if attend (fun j => dot (lookup_query F own) (lookup_key F (run dot f X t.+1 j))) i is Some j
    then double (odd (k %/ 2 ^ t)) own (run dot f X t.+1 j) else own by [].
have toN j : (j <= i)%N -> (j <= N)%N by move/leq_trans; apply.
cbv zeta; rewrite (lookup_at rounding precise (s := run dot f X t.+1)) //; last first.
- by rewrite IH // /aim /=; apply: pointer_le.
- by move=> j /toN jN; rewrite IH.
rewrite !IH // /double /place /own /aim /says /=; last by apply/toN/pointer_le.
rewrite -find_add addnn -mul2n -expnS (digits_mod letters); congr state.
by case: (odd _); rewrite ?addn0 // hop_add.
Qed.

Lemma output_after t i : (i <= N)%N -> output dot f X t.+1 i = hop X (k %% 2 ^ t) i.
Proof. by move=> iN; rewrite /output run_after //= codeK. Qed.

End Correct.

(* Claim: hops/depth_printed_floating. With base 4 the net of 4 features and 4 whole numbers a token
   is right on every token of every word, however its inner products are rounded to
   2 log2(A + N + 1) + 6 bits, exactly from layer floor(log2 k) + 2 on. *)
Theorem hop_depth_least (F : realFieldType) k L : (0 < k)%N ->
  (forall (eps : F) (dot : arithmetic F 4) A X i, rounded eps dot ->
     eps * (64 * (A + size X + 1) ^ 2)%N%:R <= 1 ->
     all (fun x => x < A)%N X -> (i <= size X)%N ->
     output dot (hop_net 4%:R 2%:R k) X L i = hop X k i)
  <-> (trunc_log 2 k + 2 <= L)%N.
Proof.
move=> k0; rewrite addn2; split=> [right|lt eps dot A X i rounding precise letters iN]; last first.
  case: L lt => // t; rewrite ltnS => lt; rewrite (output_after _ rounding precise) //.
  rewrite modn_small //; apply: leq_trans (@trunc_log_ltn 2 k isT) _.
  by rewrite leq_exp2l.
rewrite leqNgt; apply/negP => lt.
pose Y := Hops.alternating k.+1.
have Yk : (k.+1 <= size Y)%N by rewrite size_mkseq.
have none : (0 : F) * (64 * (2 + size Y + 1) ^ 2)%N%:R <= 1 by rewrite mul0r ler01.
have all2 := Hops.alternating_letters k.+1.
move: (right 0 (@exact F 4) 2%N Y k.+1 (@exact_rounded F 4) none all2 Yk).
case: L lt {right} => [|t] lt.
  by rewrite /output /= codeK => /eqP; apply/negP; apply: (@fewer_hops_differ k 0).
rewrite (output_after _ (@exact_rounded F 4) none) //; apply/eqP.
apply: fewer_hops_differ; apply: leq_trans (trunc_logP (isT : 1 < 2)%N k0).
apply: leq_trans (_ : 2 ^ t <= _)%N; first by rewrite ltn_pmod ?expn_gt0.
by rewrite leq_exp2l.
Qed.

(* What a token holds after any layer. *)
Lemma state_bound (F : realFieldType) (eps : F) dot A k X L i :
  rounded eps dot -> eps * (64 * (A + size X + 1) ^ 2)%N%:R <= 1 ->
  all (fun x => x < A)%N X -> (i <= size X)%N ->
  let s := run dot (hop_net 4%:R 2%:R k) X L i in
  [/\ place s = i, (own s <= A)%N, (aim s <= i)%N & (says s <= A)%N].
Proof.
move=> rounding precise letters iN.
have cs j : (code (symbol X j) <= A)%N := @code_symbol A X letters j.
case: L => [|t]; first by split; rewrite ?cs.
by rewrite (run_after _ rounding precise) //; split=> //; [apply: cs|apply: pointer_le|apply: cs].
Qed.

(* The features of such a token are floating-point numbers of O(log(A + N)) bits, exponents
   included: a base 4 is a shift by two bits. *)
Lemma features_floating (F : realFieldType) A N k l (s : 4.-tuple nat) :
  (place s <= N)%N -> (own s <= A)%N -> (aim s <= N)%N ->
  let f := hop_net (4%:R : F) 2%:R k in forall x, x \in query f l s \/ x \in key f l s ->
  floating (4 * (A + N + 1) ^ 2) (4 * N) x.
Proof.
move=> pN oA aN f x; rewrite {}/f; set i := place s in pN *.
have up n : 4%:R ^+ n = 2%:R ^ (2 * n)%N%:Z :> F.
  by rewrite -exprnP exprM; congr (_ ^+ _); rewrite -natrX.
have down n : 4%:R ^- n = 2%:R ^ (- (2 * n)%N%:Z) :> F by rewrite up exprnN.
have make (y : F) (a b : int) : y = a%:~R * 2%:R ^ b ->
    (`|a| <= 4 * (A + N + 1) ^ 2)%N -> (`|b| <= 4 * N)%N ->
    floating (4 * (A + N + 1) ^ 2) (4 * N) y.
  by move=> e m n; exists a, b.
have sq n : (n <= A + N)%N -> (n ^ 2 <= (A + N + 1) ^ 2)%N by move=> le; rewrite leq_sqr; lia.
have oq : (own s ^ 2 <= (A + N + 1) ^ 2)%N by apply: sq; lia.
have pq : (i ^ 2 <= (A + N + 1) ^ 2)%N by apply: sq; lia.
have big : (A + N + 1 <= (A + N + 1) ^ 2)%N by rewrite -mulnn leq_pmull // addn1.
set B := ((A + N + 1) ^ 2)%N in make oq pq big sq *.
have small n : (n <= A + N + 1)%N -> (4 * n <= 4 * B)%N.
  by move=> le; rewrite leq_mul2l /= (leq_trans le).
have B0 : (0 < B)%N by rewrite expn_gt0 addn1.
have whole (n : nat) : n%:R = n%:Z%:~R * 2%:R ^ (0%N%:Z) :> F by rewrite expr0z mulr1 -pmulrn.
have neg (n : nat) : - n%:R = (- n%:Z)%:~R * 2%:R ^ (0%N%:Z) :> F.
  by rewrite expr0z mulr1 rmorphN /= -pmulrn.
have zero : floating (4 * B) (4 * N) (0 : F) by apply: (make _ _ _ (whole 0%N)); lia.
have one : floating (4 * B) (4 * N) (1 : F) by apply: (make _ _ _ (whole 1%N)); lia.
case: l => [|l] /=.
  rewrite /match_query /match_key -/i; set u := 4%:R ^- i; set w := 4%:R ^+ i.
  have u2 : u ^+ 2 = 2%:R ^ (- (4 * i)%N%:Z).
    by rewrite /u -exprVn -exprM exprVn down; congr (_ ^ _); lia.
  have w2 : w ^+ 2 = 2%:R ^ (4 * i)%N%:Z by rewrite /w -exprM up; congr (_ ^ _); lia.
  case=> [|inkey].
    rewrite !inE => /or4P [] /eqP ->.
    - by apply: (make _ 1 (- (2 * i)%N%:Z)); [rewrite mul1r -down | lia..].
    - apply: (make _ (own s ^ 2)%N%:Z (- (2 * i)%N%:Z)); [|lia..].
      by rewrite -pmulrn natrX -down mulrC.
    - apply: (make _ (own s)%:Z (- (2 * i)%N%:Z)); [|lia..].
      by rewrite -pmulrn -down mulrC.
    - by apply: (make _ 1 (- (4 * i)%N%:Z)); [rewrite mul1r -u2 | lia..].
  move: inkey w2 pN; rewrite /w; case: (i) => [|i'] /=.
    by rewrite !inE => /or4P [] /eqP -> // _ _; apply: (make _ _ _ (neg 2%N)); lia.
  rewrite !inE => /or4P [] /eqP -> w2 pN.
  - apply: (make _ (1 - 2%N%:Z * (own s ^ 2)%N%:Z) (2 * i'.+1)%N%:Z); [|lia..].
    by rewrite rmorphB rmorphM rmorph1 /= -!pmulrn natrX -up mulrC.
  - apply: (make _ (- 2%N%:Z) (2 * i'.+1)%N%:Z); [|lia..].
    by rewrite rmorphN /= -pmulrn -up mulNr.
  - apply: (make _ (4 * own s)%N%:Z (2 * i'.+1)%N%:Z); [|have := @small (own s); lia..].
    by rewrite -pmulrn natrM -up.
  - apply: (make _ (- 2%N%:Z) (4 * i'.+1)%N%:Z); [|lia..].
    by rewrite rmorphN /= -pmulrn -w2.
rewrite /lookup_query /lookup_key -/i => -[]; rewrite !inE => /or4P [] /eqP -> //.
- by apply: (make _ _ _ (whole (aim s))); have := @small (aim s); lia.
- by rewrite -natrM; apply: (make _ _ _ (whole _)); have := @small i; lia.
- by rewrite -natrX; apply: (make _ _ _ (neg _)); lia.
Qed.


(* Claim: hops/depth_printed_floating. The printed depth in floating point: for every k >= 1 one
   causal net of 4 features and 4 whole numbers a token computes hop_k in floor(log2 k) + 2 layers,
   on all words of all lengths N and alphabets of A letters, with any rounding of inner products
   that errs by at most 1 / (64 (A + N + 1)^2) of the products' sizes. What its tokens hold is at
   most A + N, and its features are floating-point numbers of O(log(A + N)) bits. *)
Theorem hop_depth (F : realFieldType) k : (0 < k)%N ->
  exists f : net F 4 4, forall (eps : F) (dot : arithmetic F 4) A X i, rounded eps dot ->
    eps * (64 * (A + size X + 1) ^ 2)%N%:R <= 1 ->
    all (fun x => x < A)%N X -> (i <= size X)%N ->
    output dot f X (trunc_log 2 k + 2) i = hop X k i /\
    forall L, let s := run dot f X L i in
      all (fun n => n <= A + size X)%N s /\
      forall x, x \in query f L s \/ x \in key f L s ->
        floating (4 * (A + size X + 1) ^ 2) (4 * size X) x.
Proof.
move=> k0; exists (hop_net 4%:R 2%:R k) => eps dot A X i rounding precise letters iN.
have [_ right] := hop_depth_least F (trunc_log 2 k + 2) k0.
split=> [|L s]; first exact: (right (leqnn _) eps dot A).
have [ps os as_ ss] := @state_bound F eps dot A k X L i rounding precise letters iN.
split; last by apply: features_floating; rewrite -/s ?ps // (leq_trans as_).
apply/(all_nthP 0%N) => n; rewrite size_tuple -/s in ps os as_ ss *.
rewrite /place /own /aim /says in ps os as_ ss.
by case: n => [|[|[|[|]]]] // _; [rewrite ps | | |]; lia.
Qed.

(* --- the numbers of the claim --- *)

(* floor(log2 k) + 2 for k >= 1. *)
Definition floor_layers_value (k : N) : N := N.add (N.log2 k) 2%num.

Lemma log2E n : N.log2 (N.of_nat n) = N.of_nat (trunc_log 2 n).
Proof.
case: n => [|n]; first by rewrite trunc_log0.
have /andP [lo hi] : (2 ^ trunc_log 2 n.+1 <= n.+1 < 2 ^ (trunc_log 2 n.+1).+1)%N.
  exact: trunc_log_bounds.
move: (trunc_log 2 n.+1) lo hi => t lo hi; apply: N.log2_unique; first exact: N.le_0_l.
rewrite -Nnat.Nat2N.inj_succ -!(of_nat_exp 2).
by move: lo hi; move: (2 ^ t)%N (2 ^ t.+1)%N (n.+1) => a b c lo hi; split; lia.
Qed.

Lemma floor_layers_valueE (k : nat) :
  floor_layers_value (bin_of_nat k) = bin_of_nat (trunc_log 2 k + 2).
Proof. by rewrite /floor_layers_value !of_nat_bin log2E Nnat.Nat2N.inj_add. Qed.

Example floor_layers_values :
  [seq floor_layers_value k | k <- [:: 1; 2; 3; 4; 5; 7; 8; 64]%num]
  = [:: 2; 3; 3; 4; 4; 4; 5; 8]%num.
Proof. by vm_compute. Qed.

(* Claim: hops/depth_printed_floating. The net whose head skips its own token is right on every
   token of every word exactly from this depth on, with rounding as above. *)
Corollary hop_depth_checked (F : realFieldType) k L : (0 < k)%N ->
  (forall (eps : F) (dot : arithmetic F 4) A X i, rounded eps dot ->
     eps * (64 * (A + size X + 1) ^ 2)%N%:R <= 1 ->
     all (fun x => x < A)%N X -> (i <= size X)%N ->
     output dot (hop_net 4%:R 2%:R k) X L i = hop X k i)
  <-> (nat_of_bin (floor_layers_value (bin_of_nat k)) <= L)%N.
Proof. by rewrite floor_layers_valueE bin_of_natK; apply: hop_depth_least. Qed.

(* Three hops in three layers of exact scores, where pointers that double take four; not in two. *)
Example three_hops_in_three (F : realFieldType) i (X := [:: 0; 1; 1; 0; 2; 1; 0; 2; 1]%N) :
  (i <= 9)%N -> output (@exact F 4) (hop_net 4%:R 2%:R 3) X 3 i = hop X 3 i.
Proof.
move=> iN; have [_ right] := @hop_depth_checked F 3 3 isT.
by apply: (right isT 0 _ 3%N) => //; [apply: exact_rounded | rewrite mul0r ler01].
Qed.
Example three_hops_net (F : realFieldType) : exists f : net F 4 4, forall i, (i <= 3)%N ->
  output (@exact F 4) f [:: 0; 1; 0]%N 3 i = hop [:: 0; 1; 0]%N 3 i.
Proof.
have [f right] := @hop_depth F 3 isT; exists f => i i3.
by apply: (proj1 (right 0 _ 2%N _ _ _ _ _ _)) => //; [apply: exact_rounded | rewrite mul0r ler01].
Qed.
