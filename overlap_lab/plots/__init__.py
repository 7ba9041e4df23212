"""Figures: functions that return a plotly `go.Figure` and never show it."""
