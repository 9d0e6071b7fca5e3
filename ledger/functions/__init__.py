"""The functions of `import depthlaw`, one a module: each command of the same name prints what its
function returns."""
