BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('m001');
CREATE TABLE answer (
	assignment_id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	is_complete BOOLEAN NOT NULL, 
	active FLOAT, 
	idle FLOAT NOT NULL, 
	first_at FLOAT NOT NULL, 
	last_at FLOAT NOT NULL, language VARCHAR(64), 
	CONSTRAINT pk_answer PRIMARY KEY (assignment_id, item_id), 
	CONSTRAINT fk_answer_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT fk_answer_item_id FOREIGN KEY(item_id) REFERENCES item (id)
);
INSERT INTO "answer" VALUES(1,1,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"A","fluency":"A","style":"A","overall":"A"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,71.5,0.0,1760000051.0,1760000051.0,NULL);
INSERT INTO "answer" VALUES(2,2,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"E","fluency":"A","style":"B","overall":"B"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,62.5,0.0,1760000108.0,1760000108.0,NULL);
INSERT INTO "answer" VALUES(2,3,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"A","fluency":"B","style":"A","overall":"E"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,85.5,0.0,1760000153.0,1760000153.0,NULL);
INSERT INTO "answer" VALUES(2,4,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"A","fluency":"A","style":"B","overall":"B"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,84.5,0.0,1760000195.0,1760000195.0,NULL);
INSERT INTO "answer" VALUES(3,5,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"E","fluency":"E","style":"B","overall":"B"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,72.5,0.0,1760000235.0,1760000235.0,NULL);
INSERT INTO "answer" VALUES(3,6,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"B","fluency":"E","style":"B","overall":"B"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,99.5,0.0,1760000267.0,1760000267.0,NULL);
INSERT INTO "answer" VALUES(4,1,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"B","fluency":"B","style":"A","overall":"E"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,21.5,0.0,1760100054.0,1760100054.0,NULL);
INSERT INTO "answer" VALUES(5,2,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"A","fluency":"B","style":"A","overall":"E"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,32.5,0.0,1760100112.0,1760100112.0,NULL);
INSERT INTO "answer" VALUES(5,3,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"B","fluency":"E","style":"A","overall":"E"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,89.5,0.0,1760100132.0,1760100132.0,NULL);
INSERT INTO "answer" VALUES(5,4,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"A","fluency":"B","style":"B","overall":"E"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,66.5,0.0,1760100153.0,1760100153.0,NULL);
INSERT INTO "answer" VALUES(6,5,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"E","fluency":"A","style":"B","overall":"A"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,82.5,0.0,1760100186.0,1760100186.0,NULL);
INSERT INTO "answer" VALUES(6,6,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"E","fluency":"B","style":"B","overall":"A"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,42.5,0.0,1760100232.0,1760100232.0,NULL);
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
INSERT INTO "assignment" VALUES(1,1,1,'done',0,927781641,1760003600.0,1760000000.0,1760000051.0);
INSERT INTO "assignment" VALUES(2,2,1,'done',1,790608528,1760003651.0,1760000051.0,1760000195.0);
INSERT INTO "assignment" VALUES(3,3,1,'done',2,1940052759,1760003795.0,1760000195.0,1760000267.0);
INSERT INTO "assignment" VALUES(4,1,2,'done',0,1266599093,1760103600.0,1760100000.0,1760100054.0);
INSERT INTO "assignment" VALUES(5,2,2,'done',1,410142087,1760103654.0,1760100054.0,1760100153.0);
INSERT INTO "assignment" VALUES(6,3,2,'done',2,157743463,1760103753.0,1760100153.0,1760100232.0);
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
INSERT INTO "audit" VALUES(1,1,1760000000.0,'command','new campaign','pairwise');
INSERT INTO "audit" VALUES(2,1,1760000000.0,'command','add person','ann (annotator)');
INSERT INTO "audit" VALUES(3,1,1760000000.0,'command','add person','ben (annotator)');
INSERT INTO "audit" VALUES(4,1,1760000000.0,'command','add person','organiser (organiser)');
CREATE TABLE campaign (
	id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	protocol VARCHAR(40) NOT NULL, 
	settings TEXT NOT NULL, 
	created_at FLOAT NOT NULL, 
	CONSTRAINT pk_campaign PRIMARY KEY (id), 
	CONSTRAINT uq_campaign_name UNIQUE (name)
);
INSERT INTO "campaign" VALUES(1,'pairwise','pairwise','{"protocol": "pairwise", "test_set": "small", "digest": "4d67b34d5282cdd5bc99156379585662132564590acc101d1746bdea1047cf2a", "lps": ["en-de"], "raters": 2, "segments_each": null, "checks": 0.0, "check_kinds": ["damaged"], "is_loud": false, "checks_first": false, "balance": "documents", "assignment": "static", "dynamic_by": "ties", "control": 0.0, "lease_minutes": 60.0, "seed": 7, "half_steps": false, "critical": false, "tutorial": false, "time_idle_after": 60.0, "code_pass": "", "code_fail": ""}',1760000000.0);
CREATE TABLE event (
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
	CONSTRAINT uq_event_person_id_client_id UNIQUE (person_id, client_id), 
	CONSTRAINT uq_event_assignment_id_item_id_revision UNIQUE (assignment_id, item_id, revision), 
	CONSTRAINT fk_event_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT fk_event_item_id FOREIGN KEY(item_id) REFERENCES item (id), 
	CONSTRAINT fk_event_person_id FOREIGN KEY(person_id) REFERENCES person (id)
);
INSERT INTO "event" VALUES(1,1,1,1,'pairwise-0-0','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"A","fluency":"A","style":"A","overall":"A"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000051.0,1760000051.0);
INSERT INTO "event" VALUES(2,2,2,1,'pairwise-0-1','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"E","fluency":"A","style":"B","overall":"B"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000108.0,1760000108.0);
INSERT INTO "event" VALUES(3,2,3,1,'pairwise-0-2','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"A","fluency":"B","style":"A","overall":"E"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000153.0,1760000153.0);
INSERT INTO "event" VALUES(4,2,4,1,'pairwise-0-3','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"A","fluency":"A","style":"B","overall":"B"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000195.0,1760000195.0);
INSERT INTO "event" VALUES(5,3,5,1,'pairwise-0-4','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"E","fluency":"E","style":"B","overall":"B"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000235.0,1760000235.0);
INSERT INTO "event" VALUES(6,3,6,1,'pairwise-0-5','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"B","fluency":"E","style":"B","overall":"B"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000267.0,1760000267.0);
INSERT INTO "event" VALUES(7,4,1,2,'pairwise-1-6','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"B","fluency":"B","style":"A","overall":"E"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100054.0,1760100054.0);
INSERT INTO "event" VALUES(8,5,2,2,'pairwise-1-7','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"A","fluency":"B","style":"A","overall":"E"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100112.0,1760100112.0);
INSERT INTO "event" VALUES(9,5,3,2,'pairwise-1-8','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"B","fluency":"E","style":"A","overall":"E"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100132.0,1760100132.0);
INSERT INTO "event" VALUES(10,5,4,2,'pairwise-1-9','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"A","fluency":"B","style":"B","overall":"E"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100153.0,1760100153.0);
INSERT INTO "event" VALUES(11,6,5,2,'pairwise-1-10','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"E","fluency":"A","style":"B","overall":"A"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100186.0,1760100186.0);
INSERT INTO "event" VALUES(12,6,6,2,'pairwise-1-11','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]},{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{"faithfulness":"E","fluency":"B","style":"B","overall":"A"},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100232.0,1760100232.0);
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
INSERT INTO "item" VALUES(1,1,0,'2.1','text','Tea or coffee?','[{"system": "Alder", "text": "Tee oder Kaffee?", "given": null, "original": null}, {"system": "Birch", "text": "Möchten Sie lieber Tee oder doch Kaffee?", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(2,2,0,'3.1','text','Her cat sleeps all day long.','[{"system": "Alder", "text": "Ihre Katze schläft den ganzen Tag.", "given": null, "original": null}, {"system": "Birch", "text": "Die Katze schläft am Tag.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(3,2,1,'3.2','text','It is called Möhre.','[{"system": "Alder", "text": "Sie heißt Möhre.", "given": null, "original": null}, {"system": "Birch", "text": "Sie wird Möhre genannt. 🥕", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(4,2,2,'3.3','text','Yes.','[{"system": "Alder", "text": "Ja.", "given": null, "original": null}, {"system": "Birch", "text": "Jawohl.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(5,3,0,'1.1','text','The tram stops here.','[{"system": "Alder", "text": "Die Straßenbahn hält hier.", "given": null, "original": null}, {"system": "Birch", "text": "Hier hält die Tram.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(6,3,1,'1.2','text','No one got off before seven o''clock.','[{"system": "Alder", "text": "Vor sieben Uhr stieg niemand aus.", "given": null, "original": null}, {"system": "Birch", "text": "Niemand stieg aus.", "given": null, "original": null}]',NULL);
CREATE TABLE person (
	id INTEGER NOT NULL, 
	campaign_id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	lps TEXT, 
	link_hash VARCHAR(64), 
	password_hash TEXT, 
	revoked_at FLOAT, 
	tutorial_at FLOAT, 
	created_at FLOAT NOT NULL, language VARCHAR(64), 
	CONSTRAINT pk_person PRIMARY KEY (id), 
	CONSTRAINT uq_person_campaign_id_name UNIQUE (campaign_id, name), 
	CONSTRAINT fk_person_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id), 
	CONSTRAINT uq_person_link_hash UNIQUE (link_hash)
);
INSERT INTO "person" VALUES(1,1,'ann','annotator','["en-de"]','85be1750afbcf14ad8178ffd2e431d02a0feae5382f97783968bda2aa4264538',NULL,NULL,NULL,1760000000.0,NULL);
INSERT INTO "person" VALUES(2,1,'ben','annotator','["en-de"]','ffe6434a13b419fe0e62080ab855c6072de4888797d96d1570755632123ca869',NULL,NULL,NULL,1760000000.0,NULL);
INSERT INTO "person" VALUES(3,1,'organiser','organiser',NULL,'f2afb22106664f91d3fa2ac6783e38fc1b2d943c90b4e950a71c0d73c82e6d84',NULL,NULL,NULL,1760000000.0,NULL);
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
	raters INTEGER NOT NULL, 
	only_for INTEGER, 
	priority FLOAT NOT NULL, 
	is_closed BOOLEAN NOT NULL, 
	CONSTRAINT pk_task PRIMARY KEY (id), 
	CONSTRAINT uq_task_campaign_id_number UNIQUE (campaign_id, number), 
	CONSTRAINT fk_task_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id), 
	CONSTRAINT fk_task_copy_of FOREIGN KEY(copy_of) REFERENCES task (id), 
	CONSTRAINT fk_task_only_for FOREIGN KEY(only_for) REFERENCES person (id)
);
INSERT INTO "task" VALUES(1,1,1,'original','en-de','doc-2','["Alder", "Birch"]',0,NULL,2,NULL,0.0,1);
INSERT INTO "task" VALUES(2,1,2,'original','en-de','doc-3','["Alder", "Birch"]',0,NULL,2,NULL,0.0,1);
INSERT INTO "task" VALUES(3,1,3,'original','en-de','doc-1','["Alder", "Birch"]',0,NULL,2,NULL,0.0,1);
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
CREATE INDEX ix_task_only_for ON task (only_for);
CREATE INDEX ix_task_open ON task (campaign_id, kind, is_closed, lp, priority DESC, number);
CREATE INDEX ix_task_copy_of ON task (copy_of);
CREATE INDEX ix_task_campaign_id_batch_is_closed_number ON task (campaign_id, batch, is_closed, number);
CREATE INDEX ix_assignment_person_id_state_place ON assignment (person_id, state, place);
CREATE INDEX ix_assignment_state_leased_until ON assignment (state, leased_until);
CREATE INDEX ix_assignment_task_id_state ON assignment (task_id, state);
CREATE INDEX ix_assignment_state_done_at ON assignment (state, done_at);
COMMIT;
