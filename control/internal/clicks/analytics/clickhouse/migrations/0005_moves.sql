-- A copy of the log of links' moves between workspaces, one row for each workspace of a move. The row of workspace 0 says
-- how far the copy reaches. A row may occur twice. Reports read the rows of one workspace.
CREATE TABLE IF NOT EXISTS link_moves{{.OnCluster}} (log Int64, workspace Int64, link Int64, revision Int64, inside UInt8)
ENGINE = {{.Engine "ReplacingMergeTree" ""}}
ORDER BY (log, workspace, link, revision)
SETTINGS {{.Durable}};
