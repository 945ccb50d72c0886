"""The network: how long messages travel, who can reach whom, and what goes wrong on the way."""
