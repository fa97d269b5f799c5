# SPDX-License-Identifier: Apache-2.0
"""The bench harness: standard library only, so a benchmark never depends on what it measures."""
