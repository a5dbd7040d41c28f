"""What several rules share: findings, proposals for fixes, wording."""
