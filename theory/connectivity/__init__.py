"""Graph connectivity: attention on A + I reaches distance 3^L after L layers, doublings need
log2(n) rounds; what one layer carries, and what data give away."""
