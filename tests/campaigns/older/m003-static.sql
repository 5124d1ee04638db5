BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('m003');
CREATE TABLE answer (
	assignment_id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	is_complete BOOLEAN NOT NULL, 
	active FLOAT NOT NULL, 
	idle FLOAT NOT NULL, 
	first_at FLOAT NOT NULL, 
	last_at FLOAT NOT NULL, 
	CONSTRAINT pk_answer PRIMARY KEY (assignment_id, item_id), 
	CONSTRAINT fk_answer_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT fk_answer_item_id FOREIGN KEY(item_id) REFERENCES item (id)
);
INSERT INTO "answer" VALUES(1,1,1,'{"translations":[{"rating":4.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,0.0,0.0,1760000000.0,1760000000.0);
INSERT INTO "answer" VALUES(1,2,1,'{"translations":[{"rating":4.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,0.0,0.0,1760000000.0,1760000000.0);
INSERT INTO "answer" VALUES(1,3,1,'{"translations":[{"rating":4.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,0.0,0.0,1760000000.0,1760000000.0);
INSERT INTO "answer" VALUES(2,4,1,'{"translations":[{"rating":4.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,0.0,0.0,1760000000.0,1760000000.0);
INSERT INTO "answer" VALUES(2,5,1,'{"translations":[{"rating":4.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,0.0,0.0,1760000000.0,1760000000.0);
CREATE TABLE assignment (
	id INTEGER NOT NULL, 
	task_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	place INTEGER NOT NULL, 
	seed INTEGER NOT NULL, 
	leased_until FLOAT NOT NULL, 
	started_at FLOAT NOT NULL, 
	done_at FLOAT, 
	CONSTRAINT pk_assignment PRIMARY KEY (id), 
	CONSTRAINT uq_assignment_task_id_person_id UNIQUE (task_id, person_id), 
	CONSTRAINT fk_assignment_task_id FOREIGN KEY(task_id) REFERENCES task (id), 
	CONSTRAINT fk_assignment_person_id FOREIGN KEY(person_id) REFERENCES person (id)
);
INSERT INTO "assignment" VALUES(1,1,1,'done',0,303429999,1760003600.0,1760000000.0,1760000000.0);
INSERT INTO "assignment" VALUES(2,2,1,'done',1,627589586,1760003600.0,1760000000.0,1760000000.0);
INSERT INTO "assignment" VALUES(3,1,2,'leased',0,531032082,1760003600.0,1760000000.0,NULL);
CREATE TABLE audit (
	id INTEGER NOT NULL, 
	campaign_id INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	actor VARCHAR(200) NOT NULL, 
	action VARCHAR(40) NOT NULL, 
	detail TEXT NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (id), 
	CONSTRAINT fk_audit_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id)
);
INSERT INTO "audit" VALUES(1,1,1760000000.0,'command','new campaign','campaign');
INSERT INTO "audit" VALUES(2,1,1760000000.0,'command','add person','annotator-1 (annotator)');
INSERT INTO "audit" VALUES(3,1,1760000000.0,'command','add person','annotator-2 (annotator)');
INSERT INTO "audit" VALUES(4,1,1760000000.0,'command','add person','annotator-3 (annotator)');
INSERT INTO "audit" VALUES(5,1,1760000000.0,'command','add person','organiser (organiser)');
CREATE TABLE campaign (
	id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	protocol VARCHAR(40) NOT NULL, 
	settings TEXT NOT NULL, 
	created_at FLOAT NOT NULL, 
	CONSTRAINT pk_campaign PRIMARY KEY (id), 
	CONSTRAINT uq_campaign_name UNIQUE (name)
);
INSERT INTO "campaign" VALUES(1,'campaign','sqm','{"protocol": "sqm", "test_set": "small", "digest": "4d67b34d5282cdd5bc99156379585662132564590acc101d1746bdea1047cf2a", "lps": ["en-de"], "redundancy": 2, "segments_each": null, "checks": 0.12, "check_kinds": ["damaged"], "is_loud": false, "checks_first": false, "balance": "documents", "assignment": "static", "dynamic_by": "ties", "control": 0.0, "lease_minutes": 60.0, "seed": 3, "half_steps": false, "critical": false, "tutorial": false, "time_idle_after": 60.0, "code_pass": "", "code_fail": ""}',1760000000.0);
CREATE TABLE "event" (
	id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	client_id VARCHAR(64) NOT NULL, 
	page VARCHAR(64) NOT NULL, 
	revision INTEGER, 
	kind VARCHAR(20) NOT NULL, 
	state TEXT NOT NULL, 
	client_at FLOAT NOT NULL, 
	at FLOAT NOT NULL, 
	CONSTRAINT pk_event PRIMARY KEY (id), 
	CONSTRAINT fk_event_item_id FOREIGN KEY(item_id) REFERENCES item (id), 
	CONSTRAINT fk_event_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT fk_event_person_id FOREIGN KEY(person_id) REFERENCES person (id), 
	CONSTRAINT uq_event_person_id_client_id UNIQUE (person_id, client_id), 
	CONSTRAINT uq_event_assignment_id_item_id_revision UNIQUE (assignment_id, item_id, revision)
);
INSERT INTO "event" VALUES(1,1,1,1,'a79eac95ff2840a4a801b8341bfb5114','page',1,'complete','{"translations":[{"rating":4.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000000.0,1760000000.0);
INSERT INTO "event" VALUES(2,1,2,1,'bb88ff8928234091a433da4ba5a4d737','page',1,'complete','{"translations":[{"rating":4.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000000.0,1760000000.0);
INSERT INTO "event" VALUES(3,1,3,1,'6dc866c7f13f47b59187a1d4f742f175','page',1,'complete','{"translations":[{"rating":4.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000000.0,1760000000.0);
INSERT INTO "event" VALUES(4,2,4,1,'13f64f30ab784b149e44d3f9e86b1ae0','page',1,'complete','{"translations":[{"rating":4.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000000.0,1760000000.0);
INSERT INTO "event" VALUES(5,2,5,1,'d93842a6c3d94e67b8df62c2c54a1917','page',1,'complete','{"translations":[{"rating":4.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000000.0,1760000000.0);
CREATE TABLE item (
	id INTEGER NOT NULL, 
	task_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	segment TEXT NOT NULL, 
	media VARCHAR(10) NOT NULL, 
	source TEXT NOT NULL, 
	translations TEXT NOT NULL, 
	"check" TEXT, 
	CONSTRAINT pk_item PRIMARY KEY (id), 
	CONSTRAINT uq_item_task_id_place UNIQUE (task_id, place), 
	CONSTRAINT fk_item_task_id FOREIGN KEY(task_id) REFERENCES task (id)
);
INSERT INTO "item" VALUES(1,1,0,'3.1','text','Her cat sleeps all day long.','[{"system": "Alder", "text": "Ihre Katze schläft den ganzen Tag.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(2,1,1,'3.2','text','It is called Möhre.','[{"system": "Alder", "text": "Sie heißt Möhre.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(3,1,2,'3.3','text','Yes.','[{"system": "Alder", "text": "Ja.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(4,2,0,'1.1','text','The tram stops here.','[{"system": "Alder", "text": "Die Straßenbahn hält hier.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(5,2,1,'1.2','text','No one got off before seven o''clock.','[{"system": "Alder", "text": "Vor sieben Uhr stieg niemand aus.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(6,3,0,'2.1','text','Tea or coffee?','[{"system": "Birch", "text": "Möchten Sie lieber Tee oder doch Kaffee?", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(7,4,0,'3.1','text','Her cat sleeps all day long.','[{"system": "Birch", "text": "Die Katze schläft am Tag.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(8,4,1,'3.2','text','It is called Möhre.','[{"system": "Birch", "text": "Sie wird Möhre genannt. 🥕", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(9,4,2,'3.3','text','Yes.','[{"system": "Birch", "text": "Jawohl.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(10,5,0,'2.1','text','Tea or coffee?','[{"system": "Alder", "text": "Tee oder Kaffee?", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(11,6,0,'1.1','text','The tram stops here.','[{"system": "Birch", "text": "Hier hält die Tram.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(12,6,1,'1.2','text','No one got off before seven o''clock.','[{"system": "Birch", "text": "Niemand stieg aus.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(13,7,0,'1.1','text','The tram stops here.','[{"system": "Alder", "text": "schläft den ganzen Tag.", "given": null, "original": "Die Straßenbahn hält hier."}]','{"what": "damaged", "translation": 0}');
INSERT INTO "item" VALUES(14,7,1,'1.2','text','No one got off before seven o''clock.','[{"system": "Alder", "text": "Vor Die Katze schläft am Tag.", "given": null, "original": "Vor sieben Uhr stieg niemand aus."}]','{"what": "damaged", "translation": 0}');
CREATE TABLE person (
	id INTEGER NOT NULL, 
	campaign_id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	batch INTEGER, 
	link_hash VARCHAR(64), 
	password_hash TEXT, 
	revoked_at FLOAT, 
	tutorial_at FLOAT, 
	created_at FLOAT NOT NULL, 
	CONSTRAINT pk_person PRIMARY KEY (id), 
	CONSTRAINT uq_person_campaign_id_name UNIQUE (campaign_id, name), 
	CONSTRAINT fk_person_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id), 
	CONSTRAINT uq_person_link_hash UNIQUE (link_hash)
);
INSERT INTO "person" VALUES(1,1,'annotator-1','annotator',0,'f34c1a170246713ecab65cbe799542e7406459ffc09f8fafbc726399e608dfeb',NULL,NULL,NULL,1760000000.0);
INSERT INTO "person" VALUES(2,1,'annotator-2','annotator',0,'02b3fe36383262c1ff6d22c0a2af7e0c2502687bc6a6d858476aee115cb510ca',NULL,NULL,NULL,1760000000.0);
INSERT INTO "person" VALUES(3,1,'annotator-3','annotator',0,'540a6d5dbe551c0e8a197db15635d3bf2f9982bccefa7dcc8d85123ecdfa503e',NULL,NULL,NULL,1760000000.0);
INSERT INTO "person" VALUES(4,1,'organiser','organiser',NULL,'d52388f0d05a338e2baeb8f96f3b5ab74143afe22b7ec297d70224fe4388f006',NULL,NULL,NULL,1760000000.0);
CREATE TABLE session (
	hash VARCHAR(64) NOT NULL, 
	person_id INTEGER NOT NULL, 
	created_at FLOAT NOT NULL, 
	seen_at FLOAT NOT NULL, 
	CONSTRAINT pk_session PRIMARY KEY (hash), 
	CONSTRAINT fk_session_person_id FOREIGN KEY(person_id) REFERENCES person (id)
);
CREATE TABLE task (
	id INTEGER NOT NULL, 
	campaign_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	lp VARCHAR(80) NOT NULL, 
	document TEXT NOT NULL, 
	systems TEXT NOT NULL, 
	batch INTEGER, 
	copy_of INTEGER, 
	redundancy INTEGER NOT NULL, 
	only_for INTEGER, 
	priority FLOAT NOT NULL, 
	is_closed BOOLEAN NOT NULL, 
	CONSTRAINT pk_task PRIMARY KEY (id), 
	CONSTRAINT uq_task_campaign_id_number UNIQUE (campaign_id, number), 
	CONSTRAINT fk_task_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id), 
	CONSTRAINT fk_task_copy_of FOREIGN KEY(copy_of) REFERENCES task (id), 
	CONSTRAINT fk_task_only_for FOREIGN KEY(only_for) REFERENCES person (id)
);
INSERT INTO "task" VALUES(1,1,1,'original','en-de','doc-3','["Alder"]',0,NULL,2,NULL,0.0,1);
INSERT INTO "task" VALUES(2,1,2,'original','en-de','doc-1','["Alder"]',0,NULL,2,NULL,0.0,0);
INSERT INTO "task" VALUES(3,1,3,'original','en-de','doc-2','["Birch"]',0,NULL,2,NULL,0.0,0);
INSERT INTO "task" VALUES(4,1,4,'original','en-de','doc-3','["Birch"]',0,NULL,2,NULL,0.0,0);
INSERT INTO "task" VALUES(5,1,5,'original','en-de','doc-2','["Alder"]',0,NULL,2,NULL,0.0,0);
INSERT INTO "task" VALUES(6,1,6,'original','en-de','doc-1','["Birch"]',0,NULL,2,NULL,0.0,0);
INSERT INTO "task" VALUES(7,1,7,'check','en-de','doc-1','["Alder"]',0,2,2,NULL,0.0,0);
CREATE TABLE verdict (
	id INTEGER NOT NULL, 
	campaign_id INTEGER NOT NULL, 
	lp VARCHAR(80) NOT NULL, 
	segment TEXT NOT NULL, 
	pass INTEGER NOT NULL, 
	decision VARCHAR(10) NOT NULL, 
	agreement FLOAT, 
	at FLOAT NOT NULL, 
	CONSTRAINT pk_verdict PRIMARY KEY (id), 
	CONSTRAINT uq_verdict_campaign_id_lp_segment_pass UNIQUE (campaign_id, lp, segment, pass), 
	CONSTRAINT fk_verdict_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id)
);
CREATE INDEX ix_task_campaign_id_batch_is_closed_number ON task (campaign_id, batch, is_closed, number);
CREATE INDEX ix_task_open ON task (campaign_id, kind, is_closed, priority DESC, number);
CREATE INDEX ix_task_copy_of ON task (copy_of);
CREATE INDEX ix_task_only_for ON task (only_for);
CREATE INDEX ix_assignment_state_leased_until ON assignment (state, leased_until);
CREATE INDEX ix_assignment_state_done_at ON assignment (state, done_at);
CREATE INDEX ix_assignment_task_id_state ON assignment (task_id, state);
CREATE INDEX ix_assignment_person_id_state ON assignment (person_id, state);
COMMIT;
