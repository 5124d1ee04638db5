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
INSERT INTO "answer" VALUES(1,1,1,'{"translations":[{"rating":48.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,71.5,0.0,1760000041.0,1760000041.0,NULL);
INSERT INTO "answer" VALUES(1,2,1,'{"translations":[{"rating":42.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,62.5,0.0,1760000098.0,1760000098.0,NULL);
INSERT INTO "answer" VALUES(1,3,1,'{"translations":[{"rating":96.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,85.5,0.0,1760000143.0,1760000143.0,NULL);
INSERT INTO "answer" VALUES(2,4,1,'{"translations":[{"rating":50.0,"spans":[{"id":"m0","start":0,"end":3,"text":"Tee","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,84.5,0.0,1760000175.0,1760000175.0,NULL);
INSERT INTO "answer" VALUES(3,5,1,'{"translations":[{"rating":64.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,72.5,0.0,1760000206.0,1760000206.0,NULL);
INSERT INTO "answer" VALUES(3,6,1,'{"translations":[{"rating":41.0,"spans":[{"id":"m0","start":2,"end":5,"text":"r s","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,99.5,0.0,1760000264.0,1760000264.0,NULL);
INSERT INTO "answer" VALUES(4,7,1,'{"translations":[{"rating":75.0,"spans":[{"id":"m0","start":5,"end":9,"text":"hält","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,14.5,0.0,1760000301.0,1760000301.0,NULL);
INSERT INTO "answer" VALUES(4,8,1,'{"translations":[{"rating":37.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,63.5,0.0,1760000321.0,1760000321.0,NULL);
INSERT INTO "answer" VALUES(5,9,1,'{"translations":[{"rating":13.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,35.5,0.0,1760000345.0,1760000345.0,NULL);
INSERT INTO "answer" VALUES(5,10,1,'{"translations":[{"rating":71.0,"spans":[{"id":"m0","start":7,"end":13,"text":"ßt Möh","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,39.5,0.0,1760000392.0,1760000392.0,NULL);
INSERT INTO "answer" VALUES(5,11,1,'{"translations":[{"rating":51.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,72.5,0.0,1760000427.0,1760000427.0,NULL);
INSERT INTO "answer" VALUES(6,12,1,'{"translations":[{"rating":31.0,"spans":[{"id":"m0","start":30,"end":36,"text":"ch Kaf","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,37.5,0.0,1760000454.0,1760000454.0,NULL);
INSERT INTO "answer" VALUES(7,13,1,'{"translations":[{"rating":95.0,"spans":[{"id":"m0","start":2,"end":5,"text":"e V","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,110.5,0.0,1760000474.0,1760000474.0,NULL);
INSERT INTO "answer" VALUES(7,14,1,'{"translations":[{"rating":25.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,77.5,0.0,1760000531.0,1760000531.0,NULL);
INSERT INTO "answer" VALUES(7,15,1,'{"translations":[{"rating":15.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,101.5,0.0,1760000567.0,1760000567.0,NULL);
INSERT INTO "answer" VALUES(8,16,1,'{"translations":[{"rating":83.0,"spans":[{"id":"m0","start":3,"end":9,"text":"ber Te","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,81.5,0.0,1760000603.0,1760000603.0,NULL);
INSERT INTO "answer" VALUES(8,17,1,'{"translations":[{"rating":85.0,"spans":[{"id":"m0","start":23,"end":27,"text":"t am","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,103.5,0.0,1760000630.0,1760000630.0,NULL);
INSERT INTO "answer" VALUES(9,18,1,'{"translations":[{"rating":88.0,"spans":[{"id":"m0","start":13,"end":16,"text":"läf","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,14.5,0.0,1760000674.0,1760000674.0,NULL);
INSERT INTO "answer" VALUES(10,1,1,'{"translations":[{"rating":30.0,"spans":[{"id":"m0","start":0,"end":6,"text":"Die Ka","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,20.5,0.0,1760100045.0,1760100045.0,NULL);
INSERT INTO "answer" VALUES(10,2,1,'{"translations":[{"rating":95.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,27.5,0.0,1760100084.0,1760100084.0,NULL);
INSERT INTO "answer" VALUES(10,3,1,'{"translations":[{"rating":75.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,37.5,0.0,1760100121.0,1760100121.0,NULL);
INSERT INTO "answer" VALUES(11,4,1,'{"translations":[{"rating":23.0,"spans":[],"missing":{"severity":"major","category":null},"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,38.5,0.0,1760100171.0,1760100171.0,NULL);
INSERT INTO "answer" VALUES(12,5,1,'{"translations":[{"rating":13.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,75.5,0.0,1760100199.0,1760100199.0,NULL);
INSERT INTO "answer" VALUES(12,6,1,'{"translations":[{"rating":7.0,"spans":[{"id":"m0","start":0,"end":3,"text":"Vor","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":{"severity":"major","category":null},"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,31.5,0.0,1760100252.0,1760100252.0,NULL);
INSERT INTO "answer" VALUES(13,7,1,'{"translations":[{"rating":62.0,"spans":[{"id":"m0","start":1,"end":5,"text":"ier ","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,18.5,0.0,1760100294.0,1760100294.0,NULL);
INSERT INTO "answer" VALUES(13,8,1,'{"translations":[{"rating":11.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,82.5,0.0,1760100347.0,1760100347.0,NULL);
INSERT INTO "answer" VALUES(14,9,1,'{"translations":[{"rating":33.0,"spans":[{"id":"m0","start":27,"end":33,"text":"en Tag","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,25.5,0.0,1760100380.0,1760100380.0,NULL);
INSERT INTO "answer" VALUES(14,10,1,'{"translations":[{"rating":97.0,"spans":[{"id":"m0","start":4,"end":10,"text":"heißt ","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,33.5,0.0,1760100428.0,1760100428.0,NULL);
INSERT INTO "answer" VALUES(14,11,1,'{"translations":[{"rating":67.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,23.5,0.0,1760100478.0,1760100478.0,NULL);
INSERT INTO "answer" VALUES(15,12,1,'{"translations":[{"rating":3.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,18.5,0.0,1760100522.0,1760100522.0,NULL);
INSERT INTO "answer" VALUES(16,13,1,'{"translations":[{"rating":76.0,"spans":[{"id":"m0","start":9,"end":12,"text":"ieb","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,19.5,0.0,1760100573.0,1760100573.0,NULL);
INSERT INTO "answer" VALUES(16,14,1,'{"translations":[{"rating":71.0,"spans":[{"id":"m0","start":9,"end":12,"text":"e o","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,51.5,0.0,1760100593.0,1760100593.0,NULL);
INSERT INTO "answer" VALUES(16,15,1,'{"translations":[{"rating":26.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,60.5,0.0,1760100624.0,1760100624.0,NULL);
INSERT INTO "answer" VALUES(17,16,1,'{"translations":[{"rating":72.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,25.5,0.0,1760100666.0,1760100666.0,NULL);
INSERT INTO "answer" VALUES(17,17,1,'{"translations":[{"rating":97.0,"spans":[{"id":"m0","start":17,"end":21,"text":"schl","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,88.5,0.0,1760100710.0,1760100710.0,NULL);
INSERT INTO "answer" VALUES(18,18,1,'{"translations":[{"rating":33.0,"spans":[{"id":"m0","start":12,"end":15,"text":"hlä","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1,88.5,0.0,1760100754.0,1760100754.0,NULL);
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
INSERT INTO "assignment" VALUES(1,1,1,'done',0,927781641,1760003600.0,1760000000.0,1760000143.0);
INSERT INTO "assignment" VALUES(2,2,1,'done',1,790608528,1760003743.0,1760000143.0,1760000175.0);
INSERT INTO "assignment" VALUES(3,3,1,'done',2,1940052759,1760003775.0,1760000175.0,1760000264.0);
INSERT INTO "assignment" VALUES(4,4,1,'done',3,1368542491,1760003864.0,1760000264.0,1760000321.0);
INSERT INTO "assignment" VALUES(5,5,1,'done',4,1421727342,1760003921.0,1760000321.0,1760000427.0);
INSERT INTO "assignment" VALUES(6,6,1,'done',5,7884031,1760004027.0,1760000427.0,1760000454.0);
INSERT INTO "assignment" VALUES(7,7,1,'done',6,973172038,1760004054.0,1760000454.0,1760000567.0);
INSERT INTO "assignment" VALUES(8,8,1,'done',7,726381110,1760004167.0,1760000567.0,1760000630.0);
INSERT INTO "assignment" VALUES(9,9,1,'done',8,2058247332,1760004230.0,1760000630.0,1760000674.0);
INSERT INTO "assignment" VALUES(10,1,2,'done',0,1266599093,1760103600.0,1760100000.0,1760100121.0);
INSERT INTO "assignment" VALUES(11,2,2,'done',1,410142087,1760103721.0,1760100121.0,1760100171.0);
INSERT INTO "assignment" VALUES(12,3,2,'done',2,157743463,1760103771.0,1760100171.0,1760100252.0);
INSERT INTO "assignment" VALUES(13,4,2,'done',3,1555387177,1760103852.0,1760100252.0,1760100347.0);
INSERT INTO "assignment" VALUES(14,5,2,'done',4,678871463,1760103947.0,1760100347.0,1760100478.0);
INSERT INTO "assignment" VALUES(15,6,2,'done',5,811943049,1760104078.0,1760100478.0,1760100522.0);
INSERT INTO "assignment" VALUES(16,7,2,'done',6,1842717812,1760104122.0,1760100522.0,1760100624.0);
INSERT INTO "assignment" VALUES(17,8,2,'done',7,961894191,1760104224.0,1760100624.0,1760100710.0);
INSERT INTO "assignment" VALUES(18,9,2,'done',8,487938994,1760104310.0,1760100710.0,1760100754.0);
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
INSERT INTO "audit" VALUES(1,1,1760000000.0,'command','new campaign','esa');
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
INSERT INTO "campaign" VALUES(1,'esa','esa','{"protocol": "esa", "test_set": "small", "digest": "4d67b34d5282cdd5bc99156379585662132564590acc101d1746bdea1047cf2a", "lps": ["en-de"], "raters": 2, "segments_each": null, "checks": 0.3, "check_kinds": ["damaged"], "is_loud": false, "checks_first": false, "balance": "documents", "assignment": "static", "dynamic_by": "ties", "control": 0.0, "lease_minutes": 60.0, "seed": 7, "half_steps": false, "critical": false, "tutorial": false, "time_idle_after": 60.0, "code_pass": "", "code_fail": ""}',1760000000.0);
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
INSERT INTO "event" VALUES(1,1,1,1,'esa-0-0','page',1,'complete','{"translations":[{"rating":48.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000041.0,1760000041.0);
INSERT INTO "event" VALUES(2,1,2,1,'esa-0-1','page',1,'complete','{"translations":[{"rating":42.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000098.0,1760000098.0);
INSERT INTO "event" VALUES(3,1,3,1,'esa-0-2','page',1,'complete','{"translations":[{"rating":96.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000143.0,1760000143.0);
INSERT INTO "event" VALUES(4,2,4,1,'esa-0-3','page',1,'complete','{"translations":[{"rating":50.0,"spans":[{"id":"m0","start":0,"end":3,"text":"Tee","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000175.0,1760000175.0);
INSERT INTO "event" VALUES(5,3,5,1,'esa-0-4','page',1,'complete','{"translations":[{"rating":64.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000206.0,1760000206.0);
INSERT INTO "event" VALUES(6,3,6,1,'esa-0-5','page',1,'complete','{"translations":[{"rating":41.0,"spans":[{"id":"m0","start":2,"end":5,"text":"r s","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000264.0,1760000264.0);
INSERT INTO "event" VALUES(7,4,7,1,'esa-0-6','page',1,'complete','{"translations":[{"rating":75.0,"spans":[{"id":"m0","start":5,"end":9,"text":"hält","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000301.0,1760000301.0);
INSERT INTO "event" VALUES(8,4,8,1,'esa-0-7','page',1,'complete','{"translations":[{"rating":37.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000321.0,1760000321.0);
INSERT INTO "event" VALUES(9,5,9,1,'esa-0-8','page',1,'complete','{"translations":[{"rating":13.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000345.0,1760000345.0);
INSERT INTO "event" VALUES(10,5,10,1,'esa-0-9','page',1,'complete','{"translations":[{"rating":71.0,"spans":[{"id":"m0","start":7,"end":13,"text":"ßt Möh","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000392.0,1760000392.0);
INSERT INTO "event" VALUES(11,5,11,1,'esa-0-10','page',1,'complete','{"translations":[{"rating":51.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000427.0,1760000427.0);
INSERT INTO "event" VALUES(12,6,12,1,'esa-0-11','page',1,'complete','{"translations":[{"rating":31.0,"spans":[{"id":"m0","start":30,"end":36,"text":"ch Kaf","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000454.0,1760000454.0);
INSERT INTO "event" VALUES(13,7,13,1,'esa-0-12','page',1,'complete','{"translations":[{"rating":95.0,"spans":[{"id":"m0","start":2,"end":5,"text":"e V","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000474.0,1760000474.0);
INSERT INTO "event" VALUES(14,7,14,1,'esa-0-13','page',1,'complete','{"translations":[{"rating":25.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000531.0,1760000531.0);
INSERT INTO "event" VALUES(15,7,15,1,'esa-0-14','page',1,'complete','{"translations":[{"rating":15.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000567.0,1760000567.0);
INSERT INTO "event" VALUES(16,8,16,1,'esa-0-15','page',1,'complete','{"translations":[{"rating":83.0,"spans":[{"id":"m0","start":3,"end":9,"text":"ber Te","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000603.0,1760000603.0);
INSERT INTO "event" VALUES(17,8,17,1,'esa-0-16','page',1,'complete','{"translations":[{"rating":85.0,"spans":[{"id":"m0","start":23,"end":27,"text":"t am","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000630.0,1760000630.0);
INSERT INTO "event" VALUES(18,9,18,1,'esa-0-17','page',1,'complete','{"translations":[{"rating":88.0,"spans":[{"id":"m0","start":13,"end":16,"text":"läf","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760000674.0,1760000674.0);
INSERT INTO "event" VALUES(19,10,1,2,'esa-1-18','page',1,'complete','{"translations":[{"rating":30.0,"spans":[{"id":"m0","start":0,"end":6,"text":"Die Ka","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100045.0,1760100045.0);
INSERT INTO "event" VALUES(20,10,2,2,'esa-1-19','page',1,'complete','{"translations":[{"rating":95.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100084.0,1760100084.0);
INSERT INTO "event" VALUES(21,10,3,2,'esa-1-20','page',1,'complete','{"translations":[{"rating":75.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100121.0,1760100121.0);
INSERT INTO "event" VALUES(22,11,4,2,'esa-1-21','page',1,'complete','{"translations":[{"rating":23.0,"spans":[],"missing":{"severity":"major","category":null},"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100171.0,1760100171.0);
INSERT INTO "event" VALUES(23,12,5,2,'esa-1-22','page',1,'complete','{"translations":[{"rating":13.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100199.0,1760100199.0);
INSERT INTO "event" VALUES(24,12,6,2,'esa-1-23','page',1,'complete','{"translations":[{"rating":7.0,"spans":[{"id":"m0","start":0,"end":3,"text":"Vor","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":{"severity":"major","category":null},"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100252.0,1760100252.0);
INSERT INTO "event" VALUES(25,13,7,2,'esa-1-24','page',1,'complete','{"translations":[{"rating":62.0,"spans":[{"id":"m0","start":1,"end":5,"text":"ier ","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100294.0,1760100294.0);
INSERT INTO "event" VALUES(26,13,8,2,'esa-1-25','page',1,'complete','{"translations":[{"rating":11.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100347.0,1760100347.0);
INSERT INTO "event" VALUES(27,14,9,2,'esa-1-26','page',1,'complete','{"translations":[{"rating":33.0,"spans":[{"id":"m0","start":27,"end":33,"text":"en Tag","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100380.0,1760100380.0);
INSERT INTO "event" VALUES(28,14,10,2,'esa-1-27','page',1,'complete','{"translations":[{"rating":97.0,"spans":[{"id":"m0","start":4,"end":10,"text":"heißt ","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100428.0,1760100428.0);
INSERT INTO "event" VALUES(29,14,11,2,'esa-1-28','page',1,'complete','{"translations":[{"rating":67.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100478.0,1760100478.0);
INSERT INTO "event" VALUES(30,15,12,2,'esa-1-29','page',1,'complete','{"translations":[{"rating":3.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100522.0,1760100522.0);
INSERT INTO "event" VALUES(31,16,13,2,'esa-1-30','page',1,'complete','{"translations":[{"rating":76.0,"spans":[{"id":"m0","start":9,"end":12,"text":"ieb","severity":"major","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100573.0,1760100573.0);
INSERT INTO "event" VALUES(32,16,14,2,'esa-1-31','page',1,'complete','{"translations":[{"rating":71.0,"spans":[{"id":"m0","start":9,"end":12,"text":"e o","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100593.0,1760100593.0);
INSERT INTO "event" VALUES(33,16,15,2,'esa-1-32','page',1,'complete','{"translations":[{"rating":26.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100624.0,1760100624.0);
INSERT INTO "event" VALUES(34,17,16,2,'esa-1-33','page',1,'complete','{"translations":[{"rating":72.0,"spans":[],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100666.0,1760100666.0);
INSERT INTO "event" VALUES(35,17,17,2,'esa-1-34','page',1,'complete','{"translations":[{"rating":97.0,"spans":[{"id":"m0","start":17,"end":21,"text":"schl","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100710.0,1760100710.0);
INSERT INTO "event" VALUES(36,18,18,2,'esa-1-35','page',1,'complete','{"translations":[{"rating":33.0,"spans":[{"id":"m0","start":12,"end":15,"text":"hlä","severity":"minor","side":"translation","category":null,"note":"said by a script","given":null}],"missing":null,"removed":[]}],"verdicts":{},"chosen":null,"edited":null,"comment":"","is_non_translation":[]}',1760100754.0,1760100754.0);
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
INSERT INTO "item" VALUES(13,7,0,'3.1','text','Her cat sleeps all day long.','[{"system": "Birch", "text": "Die Vor sieben am Tag.", "given": null, "original": "Die Katze schläft am Tag."}]','{"what": "damaged", "translation": 0, "spans": [{"start": 4, "end": 14, "severity": null}]}');
INSERT INTO "item" VALUES(14,7,1,'3.2','text','It is called Möhre.','[{"system": "Birch", "text": "lieber Tee oder doch Kaffee?", "given": null, "original": "Sie wird Möhre genannt. 🥕"}]','{"what": "damaged", "translation": 0, "spans": [{"start": 0, "end": 28, "severity": null}]}');
INSERT INTO "item" VALUES(15,7,2,'3.3','text','Yes.','[{"system": "Birch", "text": "sieben", "given": null, "original": "Jawohl."}]','{"what": "damaged", "translation": 0, "spans": [{"start": 0, "end": 6, "severity": null}]}');
INSERT INTO "item" VALUES(16,8,0,'1.1','text','The tram stops here.','[{"system": "Alder", "text": "lieber Tee oder doch", "given": null, "original": "Die Straßenbahn hält hier."}]','{"what": "damaged", "translation": 0, "spans": [{"start": 0, "end": 20, "severity": null}]}');
INSERT INTO "item" VALUES(17,8,1,'1.2','text','No one got off before seven o''clock.','[{"system": "Alder", "text": "Vor sieben Katze schläft am Tag.", "given": null, "original": "Vor sieben Uhr stieg niemand aus."}]','{"what": "damaged", "translation": 0, "spans": [{"start": 11, "end": 32, "severity": null}]}');
INSERT INTO "item" VALUES(18,9,0,'2.1','text','Tea or coffee?','[{"system": "Birch", "text": "Die Katze schläft am Tag. doch Kaffee?", "given": null, "original": "Möchten Sie lieber Tee oder doch Kaffee?"}]','{"what": "damaged", "translation": 0, "spans": [{"start": 0, "end": 25, "severity": null}]}');
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
INSERT INTO "person" VALUES(1,1,'ann','annotator','["en-de"]','118762b5a01bf4f220f70527f837ad42ca7215ef350a876799f56a6f05bd36ca',NULL,NULL,NULL,1760000000.0,NULL);
INSERT INTO "person" VALUES(2,1,'ben','annotator','["en-de"]','f4075dc1dc63674e4dca006973d2130485ae6e57d1f035dc28090681bc20f23a',NULL,NULL,NULL,1760000000.0,NULL);
INSERT INTO "person" VALUES(3,1,'organiser','organiser',NULL,'8576b05da06c73e2dceb27d6b9e3af014a1e7a463eb39f1f78ee0e159593239f',NULL,NULL,NULL,1760000000.0,NULL);
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
INSERT INTO "task" VALUES(7,1,7,'check','en-de','doc-3','["Birch"]',0,1,2,NULL,0.0,1);
INSERT INTO "task" VALUES(8,1,8,'check','en-de','doc-1','["Alder"]',0,3,2,NULL,0.0,1);
INSERT INTO "task" VALUES(9,1,9,'check','en-de','doc-2','["Birch"]',0,6,2,NULL,0.0,1);
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
