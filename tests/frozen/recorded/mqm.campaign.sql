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
INSERT INTO "answer" VALUES(1,1,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,71.5,0.0,1760000038.0,1760000038.0,NULL);
INSERT INTO "answer" VALUES(1,2,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,62.5,0.0,1760000077.0,1760000077.0,NULL);
INSERT INTO "answer" VALUES(1,3,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,85.5,0.0,1760000128.0,1760000128.0,NULL);
INSERT INTO "answer" VALUES(2,4,1,'{"translations":[{"rating":null,"spans":[{"id":"m0","start":0,"end":3,"text":"Tee","severity":"minor","side":"translation","category":"style/awkward","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,84.5,0.0,1760000150.0,1760000150.0,NULL);
INSERT INTO "answer" VALUES(3,5,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,72.5,0.0,1760000201.0,1760000201.0,NULL);
INSERT INTO "answer" VALUES(3,6,1,'{"translations":[{"rating":null,"spans":[{"id":"m0","start":2,"end":5,"text":"r s","severity":"major","side":"translation","category":"accuracy/mistranslation","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,99.5,0.0,1760000258.0,1760000258.0,NULL);
INSERT INTO "answer" VALUES(4,7,1,'{"translations":[{"rating":null,"spans":[{"id":"m0","start":5,"end":9,"text":"hält","severity":"minor","side":"translation","category":"accuracy/mistranslation","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,14.5,0.0,1760000313.0,1760000313.0,NULL);
INSERT INTO "answer" VALUES(4,8,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,63.5,0.0,1760000337.0,1760000337.0,NULL);
INSERT INTO "answer" VALUES(5,9,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,35.5,0.0,1760000361.0,1760000361.0,NULL);
INSERT INTO "answer" VALUES(5,10,1,'{"translations":[{"rating":null,"spans":[{"id":"m0","start":7,"end":13,"text":"ßt Möh","severity":"minor","side":"translation","category":"style/awkward","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,39.5,0.0,1760000413.0,1760000413.0,NULL);
INSERT INTO "answer" VALUES(5,11,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,72.5,0.0,1760000443.0,1760000443.0,NULL);
INSERT INTO "answer" VALUES(6,12,1,'{"translations":[{"rating":null,"spans":[{"id":"m0","start":30,"end":36,"text":"ch Kaf","severity":"minor","side":"translation","category":"style/awkward","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,37.5,0.0,1760000495.0,1760000495.0,NULL);
INSERT INTO "answer" VALUES(7,1,1,'{"translations":[{"rating":null,"spans":[{"id":"m0","start":0,"end":6,"text":"Die Ka","severity":"major","side":"translation","category":"fluency/grammar","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,80.5,0.0,1760100021.0,1760100021.0,NULL);
INSERT INTO "answer" VALUES(7,2,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,13.5,0.0,1760100065.0,1760100065.0,NULL);
INSERT INTO "answer" VALUES(7,3,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,13.5,0.0,1760100124.0,1760100124.0,NULL);
INSERT INTO "answer" VALUES(8,4,1,'{"translations":[{"rating":null,"spans":[],"missing":{"severity":"major","category":"accuracy/omission"},"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,52.5,0.0,1760100165.0,1760100165.0,NULL);
INSERT INTO "answer" VALUES(9,5,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,110.5,0.0,1760100196.0,1760100196.0,NULL);
INSERT INTO "answer" VALUES(9,6,1,'{"translations":[{"rating":null,"spans":[{"id":"m0","start":0,"end":3,"text":"Vor","severity":"major","side":"translation","category":"fluency/grammar","note":"said by a script","given":null}],"missing":{"severity":"major","category":"accuracy/omission"},"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,98.5,0.0,1760100219.0,1760100219.0,NULL);
INSERT INTO "answer" VALUES(10,7,1,'{"translations":[{"rating":null,"spans":[{"id":"m0","start":1,"end":5,"text":"ier ","severity":"minor","side":"translation","category":"fluency/grammar","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,20.5,0.0,1760100276.0,1760100276.0,NULL);
INSERT INTO "answer" VALUES(10,8,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,27.5,0.0,1760100306.0,1760100306.0,NULL);
INSERT INTO "answer" VALUES(11,9,1,'{"translations":[{"rating":null,"spans":[{"id":"m0","start":27,"end":33,"text":"en Tag","severity":"major","side":"translation","category":"accuracy/mistranslation","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,37.5,0.0,1760100348.0,1760100348.0,NULL);
INSERT INTO "answer" VALUES(11,10,1,'{"translations":[{"rating":null,"spans":[{"id":"m0","start":4,"end":10,"text":"heißt ","severity":"minor","side":"translation","category":"style/awkward","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,38.5,0.0,1760100379.0,1760100379.0,NULL);
INSERT INTO "answer" VALUES(11,11,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,75.5,0.0,1760100406.0,1760100406.0,NULL);
INSERT INTO "answer" VALUES(12,12,1,'{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,31.5,0.0,1760100428.0,1760100428.0,NULL);
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
INSERT INTO "assignment" VALUES(1,1,1,'done',0,927781641,1760003600.0,1760000000.0,1760000128.0);
INSERT INTO "assignment" VALUES(2,2,1,'done',1,790608528,1760003728.0,1760000128.0,1760000150.0);
INSERT INTO "assignment" VALUES(3,3,1,'done',2,1940052759,1760003750.0,1760000150.0,1760000258.0);
INSERT INTO "assignment" VALUES(4,4,1,'done',3,1368542491,1760003858.0,1760000258.0,1760000337.0);
INSERT INTO "assignment" VALUES(5,5,1,'done',4,1421727342,1760003937.0,1760000337.0,1760000443.0);
INSERT INTO "assignment" VALUES(6,6,1,'done',5,7884031,1760004043.0,1760000443.0,1760000495.0);
INSERT INTO "assignment" VALUES(7,1,2,'done',0,1266599093,1760103600.0,1760100000.0,1760100124.0);
INSERT INTO "assignment" VALUES(8,2,2,'done',1,410142087,1760103724.0,1760100124.0,1760100165.0);
INSERT INTO "assignment" VALUES(9,3,2,'done',2,157743463,1760103765.0,1760100165.0,1760100219.0);
INSERT INTO "assignment" VALUES(10,4,2,'done',3,1555387177,1760103819.0,1760100219.0,1760100306.0);
INSERT INTO "assignment" VALUES(11,5,2,'done',4,678871463,1760103906.0,1760100306.0,1760100406.0);
INSERT INTO "assignment" VALUES(12,6,2,'done',5,811943049,1760104006.0,1760100406.0,1760100428.0);
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
INSERT INTO "audit" VALUES(1,1,1760000000.0,'command','new campaign','mqm');
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
INSERT INTO "campaign" VALUES(1,'mqm','mqm','{"protocol": "mqm", "test_set": "small", "digest": "4d67b34d5282cdd5bc99156379585662132564590acc101d1746bdea1047cf2a", "lps": ["en-de"], "raters": 2, "segments_each": null, "checks": 0.0, "check_kinds": ["damaged"], "is_loud": false, "checks_first": false, "balance": "documents", "assignment": "static", "dynamic_by": "ties", "control": 0.0, "lease_minutes": 60.0, "seed": 7, "half_steps": false, "critical": false, "tutorial": false, "time_idle_after": 60.0, "code_pass": "", "code_fail": ""}',1760000000.0);
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
INSERT INTO "event" VALUES(1,1,1,1,'mqm-0-0','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000038.0,1760000038.0);
INSERT INTO "event" VALUES(2,1,2,1,'mqm-0-1','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000077.0,1760000077.0);
INSERT INTO "event" VALUES(3,1,3,1,'mqm-0-2','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000128.0,1760000128.0);
INSERT INTO "event" VALUES(4,2,4,1,'mqm-0-3','page',1,'complete','{"translations":[{"rating":null,"spans":[{"id":"m0","start":0,"end":3,"text":"Tee","severity":"minor","side":"translation","category":"style/awkward","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000150.0,1760000150.0);
INSERT INTO "event" VALUES(5,3,5,1,'mqm-0-4','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000201.0,1760000201.0);
INSERT INTO "event" VALUES(6,3,6,1,'mqm-0-5','page',1,'complete','{"translations":[{"rating":null,"spans":[{"id":"m0","start":2,"end":5,"text":"r s","severity":"major","side":"translation","category":"accuracy/mistranslation","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000258.0,1760000258.0);
INSERT INTO "event" VALUES(7,4,7,1,'mqm-0-6','page',1,'complete','{"translations":[{"rating":null,"spans":[{"id":"m0","start":5,"end":9,"text":"hält","severity":"minor","side":"translation","category":"accuracy/mistranslation","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000313.0,1760000313.0);
INSERT INTO "event" VALUES(8,4,8,1,'mqm-0-7','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000337.0,1760000337.0);
INSERT INTO "event" VALUES(9,5,9,1,'mqm-0-8','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000361.0,1760000361.0);
INSERT INTO "event" VALUES(10,5,10,1,'mqm-0-9','page',1,'complete','{"translations":[{"rating":null,"spans":[{"id":"m0","start":7,"end":13,"text":"ßt Möh","severity":"minor","side":"translation","category":"style/awkward","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000413.0,1760000413.0);
INSERT INTO "event" VALUES(11,5,11,1,'mqm-0-10','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000443.0,1760000443.0);
INSERT INTO "event" VALUES(12,6,12,1,'mqm-0-11','page',1,'complete','{"translations":[{"rating":null,"spans":[{"id":"m0","start":30,"end":36,"text":"ch Kaf","severity":"minor","side":"translation","category":"style/awkward","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000495.0,1760000495.0);
INSERT INTO "event" VALUES(13,7,1,2,'mqm-1-12','page',1,'complete','{"translations":[{"rating":null,"spans":[{"id":"m0","start":0,"end":6,"text":"Die Ka","severity":"major","side":"translation","category":"fluency/grammar","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100021.0,1760100021.0);
INSERT INTO "event" VALUES(14,7,2,2,'mqm-1-13','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100065.0,1760100065.0);
INSERT INTO "event" VALUES(15,7,3,2,'mqm-1-14','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100124.0,1760100124.0);
INSERT INTO "event" VALUES(16,8,4,2,'mqm-1-15','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":{"severity":"major","category":"accuracy/omission"},"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100165.0,1760100165.0);
INSERT INTO "event" VALUES(17,9,5,2,'mqm-1-16','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100196.0,1760100196.0);
INSERT INTO "event" VALUES(18,9,6,2,'mqm-1-17','page',1,'complete','{"translations":[{"rating":null,"spans":[{"id":"m0","start":0,"end":3,"text":"Vor","severity":"major","side":"translation","category":"fluency/grammar","note":"said by a script","given":null}],"missing":{"severity":"major","category":"accuracy/omission"},"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100219.0,1760100219.0);
INSERT INTO "event" VALUES(19,10,7,2,'mqm-1-18','page',1,'complete','{"translations":[{"rating":null,"spans":[{"id":"m0","start":1,"end":5,"text":"ier ","severity":"minor","side":"translation","category":"fluency/grammar","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100276.0,1760100276.0);
INSERT INTO "event" VALUES(20,10,8,2,'mqm-1-19','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100306.0,1760100306.0);
INSERT INTO "event" VALUES(21,11,9,2,'mqm-1-20','page',1,'complete','{"translations":[{"rating":null,"spans":[{"id":"m0","start":27,"end":33,"text":"en Tag","severity":"major","side":"translation","category":"accuracy/mistranslation","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100348.0,1760100348.0);
INSERT INTO "event" VALUES(22,11,10,2,'mqm-1-21','page',1,'complete','{"translations":[{"rating":null,"spans":[{"id":"m0","start":4,"end":10,"text":"heißt ","severity":"minor","side":"translation","category":"style/awkward","note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100379.0,1760100379.0);
INSERT INTO "event" VALUES(23,11,11,2,'mqm-1-22','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100406.0,1760100406.0);
INSERT INTO "event" VALUES(24,12,12,2,'mqm-1-23','page',1,'complete','{"translations":[{"rating":null,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100428.0,1760100428.0);
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
INSERT INTO "item" VALUES(1,1,0,'3.1','text','Her cat sleeps all day long.','[{"system": "Birch", "text": "Die Katze schläft am Tag.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(2,1,1,'3.2','text','It is called Möhre.','[{"system": "Birch", "text": "Sie wird Möhre genannt. 🥕", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(3,1,2,'3.3','text','Yes.','[{"system": "Birch", "text": "Jawohl.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(4,2,0,'2.1','text','Tea or coffee?','[{"system": "Alder", "text": "Tee oder Kaffee?", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(5,3,0,'1.1','text','The tram stops here.','[{"system": "Alder", "text": "Die Straßenbahn hält hier.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(6,3,1,'1.2','text','No one got off before seven o''clock.','[{"system": "Alder", "text": "Vor sieben Uhr stieg niemand aus.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(7,4,0,'1.1','text','The tram stops here.','[{"system": "Birch", "text": "Hier hält die Tram.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(8,4,1,'1.2','text','No one got off before seven o''clock.','[{"system": "Birch", "text": "Niemand stieg aus.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(9,5,0,'3.1','text','Her cat sleeps all day long.','[{"system": "Alder", "text": "Ihre Katze schläft den ganzen Tag.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(10,5,1,'3.2','text','It is called Möhre.','[{"system": "Alder", "text": "Sie heißt Möhre.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(11,5,2,'3.3','text','Yes.','[{"system": "Alder", "text": "Ja.", "given": null, "original": null}]',NULL);
INSERT INTO "item" VALUES(12,6,0,'2.1','text','Tea or coffee?','[{"system": "Birch", "text": "Möchten Sie lieber Tee oder doch Kaffee?", "given": null, "original": null}]',NULL);
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
INSERT INTO "person" VALUES(1,1,'ann','annotator','["en-de"]','c7e1d8e97eada90101ba7f75e01c79c04c1eab009d6d9479411c21038346c168',NULL,NULL,NULL,1760000000.0,NULL);
INSERT INTO "person" VALUES(2,1,'ben','annotator','["en-de"]','3e4f12e7504c64e2fba3752bec535c4a3289ccf23cdad21bd6aebddb94106591',NULL,NULL,NULL,1760000000.0,NULL);
INSERT INTO "person" VALUES(3,1,'organiser','organiser',NULL,'b31a9ff26d39cc5e1c57edc74aeb2d9d35071d9f62a1443fcf6bff8b2755302d',NULL,NULL,NULL,1760000000.0,NULL);
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
INSERT INTO "task" VALUES(1,1,1,'original','en-de','doc-3','["Birch"]',0,NULL,2,NULL,0.0,1);
INSERT INTO "task" VALUES(2,1,2,'original','en-de','doc-2','["Alder"]',0,NULL,2,NULL,0.0,1);
INSERT INTO "task" VALUES(3,1,3,'original','en-de','doc-1','["Alder"]',0,NULL,2,NULL,0.0,1);
INSERT INTO "task" VALUES(4,1,4,'original','en-de','doc-1','["Birch"]',0,NULL,2,NULL,0.0,1);
INSERT INTO "task" VALUES(5,1,5,'original','en-de','doc-3','["Alder"]',0,NULL,2,NULL,0.0,1);
INSERT INTO "task" VALUES(6,1,6,'original','en-de','doc-2','["Birch"]',0,NULL,2,NULL,0.0,1);
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
