{{if .Cluster}}-- Tables of an earlier release. The table identity is missing here, because its row is inserted once.
ALTER TABLE {{.Table "migrations"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "clicks"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "lane_marks"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "losses"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "rollup_visits"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "rollup_counts"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "rollup_owners"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "rollup_marks"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "rollup_builds"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "link_moves"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "conversions"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "rollup_begun"}} MODIFY SETTING {{.EveryBlock}};
ALTER TABLE {{.Table "rollup_sample"}} MODIFY SETTING {{.EveryBlock}};
{{end}}
