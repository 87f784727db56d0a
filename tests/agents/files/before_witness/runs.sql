PRAGMA application_id = 1952934514;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE active (
        session_id TEXT PRIMARY KEY NOT NULL,
        run_id TEXT NOT NULL,
        engine_id TEXT NOT NULL,
        taken_at REAL NOT NULL
    ) STRICT
    ;
INSERT INTO "active" VALUES('s-approval','approval','sqlite_5d763dd2f9da41ad9db4ac72a8681533',1.79545542986144256595e+09);
INSERT INTO "active" VALUES('s-question','question','sqlite_5d763dd2f9da41ad9db4ac72a8681533',1.7954554298774952889e+09);
INSERT INTO "active" VALUES('s-cut','cut','sqlite_5d763dd2f9da41ad9db4ac72a8681533',1.79545542988869261742e+09);
INSERT INTO "active" VALUES('s-again','again','sqlite_5d763dd2f9da41ad9db4ac72a8681533',1.79545542990135884283e+09);
CREATE TABLE answer (
        run_id TEXT NOT NULL,
        call_id TEXT NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        PRIMARY KEY (run_id, call_id)
    ) STRICT
    ;
INSERT INTO "answer" VALUES('done','call_0_0',1.79545542984745192527e+09,'[{"answers":[{"id":"call_0_0","name":"look_up","status":"ok","text":"\"lamp is found\"","reminder":"","content":[],"bounds":null,"artifacts":[],"resolved_by":""}],"type":"tools"}]');
CREATE TABLE attempt (
            run INTEGER NOT NULL, op TEXT NOT NULL, failed INTEGER NOT NULL, until REAL NOT NULL,
            begun INTEGER NOT NULL, PRIMARY KEY (run, op)) STRICT, WITHOUT ROWID;
INSERT INTO "attempt" VALUES(5,'tool:call_0_0',0,0.0,1);
INSERT INTO "attempt" VALUES(7,'tool:call_0_0',0,0.0,1);
CREATE TABLE engine (
        id TEXT PRIMARY KEY NOT NULL,
        is_durable INTEGER NOT NULL,
        alive_until REAL NOT NULL
    ) STRICT
    ;
INSERT INTO "engine" VALUES('sqlite_5d763dd2f9da41ad9db4ac72a8681533',1,1.79545544490135884282e+09);
CREATE TABLE event (id INTEGER PRIMARY KEY, key TEXT, text BLOB NOT NULL) STRICT;
INSERT INTO "event" VALUES(1048577,'run_started',CAST('{"format":1,"seq":0,"time":1795455429.8198133,"run_id":"done","session_id":"s-done","turn_id":"turn_3edaf8749fa05d4eaa9a4f0b34f64575","tool_call_id":"","agent_id":"x.agent","type":"run_started","agent":"x.agent","parent_run_id":""}' AS BLOB));
INSERT INTO "event" VALUES(1048578,'phase:planning:0',CAST('{"format":1,"seq":0,"time":1795455429.8198133,"run_id":"done","session_id":"s-done","turn_id":"turn_3edaf8749fa05d4eaa9a4f0b34f64575","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"planning"}' AS BLOB));
INSERT INTO "event" VALUES(1048579,'phase:executing_tools:1',CAST('{"format":1,"seq":0,"time":1795455429.8408287,"run_id":"done","session_id":"s-done","turn_id":"turn_3edaf8749fa05d4eaa9a4f0b34f64575","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"executing_tools"}' AS BLOB));
INSERT INTO "event" VALUES(1048580,'call_0_0:start',CAST('{"format":1,"seq":0,"time":1795455429.8408287,"run_id":"done","session_id":"s-done","turn_id":"turn_3edaf8749fa05d4eaa9a4f0b34f64575","tool_call_id":"call_0_0","agent_id":"x.agent","type":"tool_start","tool":"x.tools.look_up","name":"look_up","arguments":{"name":"lamp"},"text":"","parent_tool_call_id":"","runs_once":false}' AS BLOB));
INSERT INTO "event" VALUES(1048581,'call_0_0:end:0',CAST('{"format":1,"seq":0,"time":1795455429.84732,"run_id":"done","session_id":"s-done","turn_id":"turn_3edaf8749fa05d4eaa9a4f0b34f64575","tool_call_id":"call_0_0","agent_id":"x.agent","type":"tool_end","tool":"x.tools.look_up","status":"ok","result":"lamp is found","error":"","code":"","causes":[],"correlation_id":"","issue_count":0,"bounds":null,"artifacts":[],"text":"","is_final":false,"duration_s":0.0002055640002254222,"suspension_id":"","answered_id":"","resolved_by":""}' AS BLOB));
INSERT INTO "event" VALUES(1048582,'phase:planning:1',CAST('{"format":1,"seq":0,"time":1795455429.8475208,"run_id":"done","session_id":"s-done","turn_id":"turn_3edaf8749fa05d4eaa9a4f0b34f64575","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"planning"}' AS BLOB));
INSERT INTO "event" VALUES(1048583,'reply',CAST('{"format":1,"seq":0,"time":1795455429.8517053,"run_id":"done","session_id":"s-done","turn_id":"turn_3edaf8749fa05d4eaa9a4f0b34f64575","tool_call_id":"","agent_id":"x.agent","type":"assistant_reply","text":"\"lamp is found\"","is_partial":false,"is_truncated":false}' AS BLOB));
INSERT INTO "event" VALUES(1048584,'run_completed',CAST('{"format":1,"seq":0,"time":1795455429.8517053,"run_id":"done","session_id":"s-done","turn_id":"turn_3edaf8749fa05d4eaa9a4f0b34f64575","tool_call_id":"","agent_id":"x.agent","type":"run_completed","status":"completed","error":""}' AS BLOB));
INSERT INTO "event" VALUES(1048585,'run_stream_end',CAST('{"type":"run_stream_end"}' AS BLOB));
INSERT INTO "event" VALUES(3145729,'run_started',CAST('{"format":1,"seq":0,"time":1795455429.861888,"run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"","agent_id":"x.agent","type":"run_started","agent":"x.agent","parent_run_id":""}' AS BLOB));
INSERT INTO "event" VALUES(3145730,'phase:planning:0',CAST('{"format":1,"seq":0,"time":1795455429.861888,"run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"planning"}' AS BLOB));
INSERT INTO "event" VALUES(3145731,'phase:executing_tools:1',CAST('{"format":1,"seq":0,"time":1795455429.8635907,"run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"executing_tools"}' AS BLOB));
INSERT INTO "event" VALUES(3145732,'call_0_0:start',CAST('{"format":1,"seq":0,"time":1795455429.8635907,"run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"call_0_0","agent_id":"x.agent","type":"tool_start","tool":"x.tools.wipe","name":"wipe","arguments":{"name":"disk"},"text":"","parent_tool_call_id":"","runs_once":true}' AS BLOB));
INSERT INTO "event" VALUES(3145733,'call_0_0:0:0',CAST('{"format":1,"seq":0,"time":1795455429.8648498,"run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"call_0_0","agent_id":"x.agent","type":"await_confirmation","suspension_id":"d30ae0cda4c143cf","tool":"x.tools.wipe","question":"Wipe disk?","preview":"","is_shortened":false,"arguments":{"name":"disk"},"answer_schema":{"type":"object","properties":{"approved":{"type":"boolean"},"message":{"type":"string"}},"required":["approved"],"additionalProperties":false},"expires_at":11795455429.864674,"requested_by":"","reason":""}' AS BLOB));
INSERT INTO "event" VALUES(3145734,'call_0_0:0:1',CAST('{"format":1,"seq":0,"time":1795455429.8679216,"run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"call_0_0","agent_id":"x.agent","type":"tool_end","tool":"x.tools.wipe","status":"suspended","result":null,"error":"","code":"","causes":[],"correlation_id":"","issue_count":0,"bounds":null,"artifacts":[],"text":"","is_final":false,"duration_s":0.0005889799999749812,"suspension_id":"d30ae0cda4c143cf","answered_id":"","resolved_by":""}' AS BLOB));
INSERT INTO "event" VALUES(3145735,'phase:waiting:d30ae0cda4c143cf',CAST('{"format":1,"seq":0,"time":1795455429.8685682,"run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"waiting"}' AS BLOB));
INSERT INTO "event" VALUES(5242881,'run_started',CAST('{"format":1,"seq":0,"time":1795455429.8779256,"run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"","agent_id":"x.agent","type":"run_started","agent":"x.agent","parent_run_id":""}' AS BLOB));
INSERT INTO "event" VALUES(5242882,'phase:planning:0',CAST('{"format":1,"seq":0,"time":1795455429.8779256,"run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"planning"}' AS BLOB));
INSERT INTO "event" VALUES(5242883,'phase:executing_tools:1',CAST('{"format":1,"seq":0,"time":1795455429.8805954,"run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"executing_tools"}' AS BLOB));
INSERT INTO "event" VALUES(5242884,'call_0_0:start',CAST('{"format":1,"seq":0,"time":1795455429.8805954,"run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"call_0_0","agent_id":"x.agent","type":"tool_start","tool":"x.tools.ask","name":"ask","arguments":{"name":"Mira"},"text":"","parent_tool_call_id":"","runs_once":true}' AS BLOB));
INSERT INTO "event" VALUES(5242885,'call_0_0:0:0',CAST('{"format":1,"seq":0,"time":1795455429.886614,"run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"call_0_0","agent_id":"x.agent","type":"await_input","suspension_id":"023e94ec7b8fb25e","tool":"x.tools.ask","kind":"input","question":"Who is Mira?","arguments":{"name":"Mira"},"answer_schema":{"type":"string"},"expires_at":11795455429.88643,"requested_by":"","reason":"","request":null}' AS BLOB));
INSERT INTO "event" VALUES(5242886,'call_0_0:0:1',CAST('{"format":1,"seq":0,"time":1795455429.886688,"run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"call_0_0","agent_id":"x.agent","type":"tool_end","tool":"x.tools.ask","status":"suspended","result":null,"error":"","code":"","causes":[],"correlation_id":"","issue_count":0,"bounds":null,"artifacts":[],"text":"","is_final":false,"duration_s":0.0006880599999021797,"suspension_id":"023e94ec7b8fb25e","answered_id":"","resolved_by":""}' AS BLOB));
INSERT INTO "event" VALUES(5242887,'phase:waiting:023e94ec7b8fb25e',CAST('{"format":1,"seq":0,"time":1795455429.887003,"run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"waiting"}' AS BLOB));
INSERT INTO "event" VALUES(7340033,'run_started',CAST('{"format":1,"seq":0,"time":1795455429.898754,"run_id":"cut","session_id":"s-cut","turn_id":"turn_47c6f177bca75a32ad5fc536eaa1cd84","tool_call_id":"","agent_id":"x.agent","type":"run_started","agent":"x.agent","parent_run_id":""}' AS BLOB));
INSERT INTO "event" VALUES(7340034,'phase:planning:0',CAST('{"format":1,"seq":0,"time":1795455429.898754,"run_id":"cut","session_id":"s-cut","turn_id":"turn_47c6f177bca75a32ad5fc536eaa1cd84","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"planning"}' AS BLOB));
INSERT INTO "event" VALUES(7340035,'phase:executing_tools:1',CAST('{"format":1,"seq":0,"time":1795455429.8999774,"run_id":"cut","session_id":"s-cut","turn_id":"turn_47c6f177bca75a32ad5fc536eaa1cd84","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"executing_tools"}' AS BLOB));
INSERT INTO "event" VALUES(7340036,'call_0_0:start',CAST('{"format":1,"seq":0,"time":1795455429.8999774,"run_id":"cut","session_id":"s-cut","turn_id":"turn_47c6f177bca75a32ad5fc536eaa1cd84","tool_call_id":"call_0_0","agent_id":"x.agent","type":"tool_start","tool":"x.tools.pay","name":"pay","arguments":{"name":"slow"},"text":"","parent_tool_call_id":"","runs_once":true}' AS BLOB));
INSERT INTO "event" VALUES(9437185,'run_started',CAST('{"format":1,"seq":0,"time":1795455429.9016864,"run_id":"again","session_id":"s-again","turn_id":"turn_787634c8a2af5ceb85402d7dc6a26e19","tool_call_id":"","agent_id":"x.agent","type":"run_started","agent":"x.agent","parent_run_id":""}' AS BLOB));
INSERT INTO "event" VALUES(9437186,'phase:planning:0',CAST('{"format":1,"seq":0,"time":1795455429.9016864,"run_id":"again","session_id":"s-again","turn_id":"turn_787634c8a2af5ceb85402d7dc6a26e19","tool_call_id":"","agent_id":"x.agent","type":"run_phase","phase":"planning"}' AS BLOB));
CREATE TABLE message (
        run_id TEXT NOT NULL,
        step INTEGER NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        PRIMARY KEY (run_id, step)
    ) STRICT
    ;
INSERT INTO "message" VALUES('done',0,1.79545542981916618346e+09,'[{"text":"look_up lamp","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('done',1,1.7954554298406915665e+09,'[{"text":"","calls":[{"name":"look_up","arguments":"{\"name\":\"lamp\"}","id":"call_0_0"}],"native":null,"type":"assistant"}]');
INSERT INTO "message" VALUES('done',3,1.79545542985158252712e+09,'[{"answers":[{"id":"call_0_0","name":"look_up","status":"ok","text":"\"lamp is found\"","reminder":"","content":[],"bounds":null,"artifacts":[],"resolved_by":""}],"type":"tools"},{"text":"\"lamp is found\"","calls":[],"native":null,"type":"assistant"}]');
INSERT INTO "message" VALUES('approval',0,1.79545542986144256595e+09,'[{"text":"wipe disk","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('approval',1,1.79545542986341881757e+09,'[{"text":"","calls":[{"name":"wipe","arguments":"{\"name\":\"disk\"}","id":"call_0_0"}],"native":null,"type":"assistant"}]');
INSERT INTO "message" VALUES('question',0,1.7954554298774952889e+09,'[{"text":"ask Mira","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('question',1,1.79545542988052248952e+09,'[{"text":"","calls":[{"name":"ask","arguments":"{\"name\":\"Mira\"}","id":"call_0_0"}],"native":null,"type":"assistant"}]');
INSERT INTO "message" VALUES('cut',0,1.79545542988869261742e+09,'[{"text":"pay slow","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('cut',1,1.79545542989990162844e+09,'[{"text":"","calls":[{"name":"pay","arguments":"{\"name\":\"slow\"}","id":"call_0_0"}],"native":null,"type":"assistant"}]');
INSERT INTO "message" VALUES('again',0,1.79545542990135884283e+09,'[{"text":"look_up slow","source":"person","type":"user"}]');
INSERT INTO "message" VALUES('again',1,1.7954554299094517231e+09,'[{"text":"","calls":[{"name":"look_up","arguments":"{\"name\":\"slow\"}","id":"call_0_0"}],"native":null,"type":"assistant"}]');
CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('clock',1.7954554298408286571e+09);
INSERT INTO "meta" VALUES('id','sqlite_5d763dd2f9da41ad9db4ac72a8681533');
CREATE TABLE op (
            id INTEGER PRIMARY KEY, op TEXT NOT NULL, what TEXT NOT NULL, digest BLOB NOT NULL,
            at REAL NOT NULL, value BLOB NOT NULL, kind TEXT, message TEXT) STRICT;
INSERT INTO "op" VALUES(1048577,'plan:0','plan',X'1B8202663F459A100C2FD02D9307412EA69A1744FFC38EA046B85D63A30BBB29',1.7954554298408286571e+09,CAST('{"kind":"calls","text":"","calls":[{"id":"call_0_0","name":"look_up","arguments":"{\"name\":\"lamp\"}","tool":"x.tools.look_up","tags":[],"is_bookkeeping":false,"is_sequential":false,"starts_run":false,"start":{"format":1,"seq":0,"time":0.0,"run_id":"","session_id":"","turn_id":"","tool_call_id":"","agent_id":"","type":"tool_start","tool":"x.tools.look_up","name":"look_up","arguments":{"name":"lamp"},"text":"","parent_tool_call_id":"","runs_once":false}}],"usage":[]}' AS BLOB),'','');
INSERT INTO "op" VALUES(1048578,'tool:call_0_0','tool',X'7E7B4AA6ED4AA1D97572E1DE3264911E6F834E18559944C72C6ECED18608228B',1.79545542984752082822e+09,CAST('{"status":"ok","answer":{"id":"call_0_0","name":"look_up","status":"ok","text":"\"lamp is found\"","reminder":"","content":[],"bounds":null,"artifacts":[]},"events":[{"format":1,"seq":0,"time":1795455429.84732,"run_id":"done","session_id":"s-done","turn_id":"turn_3edaf8749fa05d4eaa9a4f0b34f64575","tool_call_id":"call_0_0","agent_id":"x.agent","type":"tool_end","tool":"x.tools.look_up","status":"ok","result":"lamp is found","error":"","code":"","causes":[],"correlation_id":"","issue_count":0,"bounds":null,"artifacts":[],"text":"","is_final":false,"duration_s":0.0002055640002254222,"suspension_id":"","answered_id":"","resolved_by":""}],"is_final":false,"display":"","artifacts":[],"children":0}' AS BLOB),'','');
INSERT INTO "op" VALUES(1048579,'plan:1','plan',X'EF6B8AC3493FE233C0642B2068EE1854BD14E5CFD37DBD2D8B98558194CC9042',1.79545542985170531271e+09,CAST('{"kind":"final","text":"\"lamp is found\"","result":null,"usage":[]}' AS BLOB),'','');
INSERT INTO "op" VALUES(3145729,'plan:0','plan',X'3B8994FE06B62F0B87896A5C0772808E99BA72961F8411672D2C8D861019F3E8',1.79545542986359071726e+09,CAST('{"kind":"calls","text":"","calls":[{"id":"call_0_0","name":"wipe","arguments":"{\"name\":\"disk\"}","tool":"x.tools.wipe","tags":[],"is_bookkeeping":false,"is_sequential":false,"starts_run":false,"start":{"format":1,"seq":0,"time":0.0,"run_id":"","session_id":"","turn_id":"","tool_call_id":"","agent_id":"","type":"tool_start","tool":"x.tools.wipe","name":"wipe","arguments":{"name":"disk"},"text":"","parent_tool_call_id":"","runs_once":true}}],"usage":[]}' AS BLOB),'','');
INSERT INTO "op" VALUES(3145730,'tool:call_0_0','tool',X'9D0C017D7B5326BD2C2A2E858FF39275FBB6659AF36A87A94D8753FF572D6C51',1.79545542986856818202e+09,CAST('{"status":"suspended","answer":{"id":"call_0_0","name":"wipe","status":"suspended","text":"","reminder":"","content":[],"bounds":null,"artifacts":[]},"events":[{"format":1,"seq":0,"time":1795455429.8648498,"run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"call_0_0","agent_id":"x.agent","type":"await_confirmation","suspension_id":"d30ae0cda4c143cf","tool":"x.tools.wipe","question":"Wipe disk?","preview":"","is_shortened":false,"arguments":{"name":"disk"},"answer_schema":{"type":"object","properties":{"approved":{"type":"boolean"},"message":{"type":"string"}},"required":["approved"],"additionalProperties":false},"expires_at":11795455429.864674,"requested_by":"","reason":""},{"format":1,"seq":0,"time":1795455429.8679216,"run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"call_0_0","agent_id":"x.agent","type":"tool_end","tool":"x.tools.wipe","status":"suspended","result":null,"error":"","code":"","causes":[],"correlation_id":"","issue_count":0,"bounds":null,"artifacts":[],"text":"","is_final":false,"duration_s":0.0005889799999749812,"suspension_id":"d30ae0cda4c143cf","answered_id":"","resolved_by":""}],"is_final":false,"display":"","artifacts":[],"children":0,"frozen":{"id":"d30ae0cda4c143cf","kind":"confirmation","tool":"x.tools.wipe","spec_digest":"67dd36f3cdac2147f669167ddaef8fe0c2c812e20e39ee5c747d3ee3de32b3d1","payload_json":"{\"name\":\"disk\"}","meta":{"agent":"x.agent","run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"call_0_0","parent_tool_call_id":"","labels":{},"requested_by":""},"question":"Wipe disk?","preview":"","answer_schema":{"type":"object","properties":{"approved":{"type":"boolean"},"message":{"type":"string"}},"required":["approved"],"additionalProperties":false},"created_at":1795455429.8646743,"expires_at":11795455429.864674,"idempotency_key":"approval:call_0_0","seal":{"key":"4e36d188","mac":"La3nKmJ7-zpvE6Pbq_48SbZIp5PZvAtCfjmzcF8Byxk"}}}' AS BLOB),'','');
INSERT INTO "op" VALUES(5242881,'plan:0','plan',X'E4195D2C337A15EC692B343FE226ADBEADC9523530F3904F93342B307ABF2B42',1.79545542988059544562e+09,CAST('{"kind":"calls","text":"","calls":[{"id":"call_0_0","name":"ask","arguments":"{\"name\":\"Mira\"}","tool":"x.tools.ask","tags":[],"is_bookkeeping":false,"is_sequential":false,"starts_run":false,"start":{"format":1,"seq":0,"time":0.0,"run_id":"","session_id":"","turn_id":"","tool_call_id":"","agent_id":"","type":"tool_start","tool":"x.tools.ask","name":"ask","arguments":{"name":"Mira"},"text":"","parent_tool_call_id":"","runs_once":true}}],"usage":[]}' AS BLOB),'','');
INSERT INTO "op" VALUES(5242882,'tool:call_0_0','tool',X'27A4F11A88E25334067804A6A6655F5D165FB3CA3C201B6CFA6375F7C1014262',1.79545542988700294493e+09,CAST('{"status":"suspended","answer":{"id":"call_0_0","name":"ask","status":"suspended","text":"","reminder":"","content":[],"bounds":null,"artifacts":[]},"events":[{"format":1,"seq":0,"time":1795455429.886614,"run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"call_0_0","agent_id":"x.agent","type":"await_input","suspension_id":"023e94ec7b8fb25e","tool":"x.tools.ask","kind":"input","question":"Who is Mira?","arguments":{"name":"Mira"},"answer_schema":{"type":"string"},"expires_at":11795455429.88643,"requested_by":"","reason":"","request":null},{"format":1,"seq":0,"time":1795455429.886688,"run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"call_0_0","agent_id":"x.agent","type":"tool_end","tool":"x.tools.ask","status":"suspended","result":null,"error":"","code":"","causes":[],"correlation_id":"","issue_count":0,"bounds":null,"artifacts":[],"text":"","is_final":false,"duration_s":0.0006880599999021797,"suspension_id":"023e94ec7b8fb25e","answered_id":"","resolved_by":""}],"is_final":false,"display":"","artifacts":[],"children":0,"frozen":{"id":"023e94ec7b8fb25e","kind":"input","tool":"x.tools.ask","spec_digest":"b930e7af586baa9ed4487792939d5b2c6f1ef333f7a16fdca1f280c1d13656ed","payload_json":"{\"name\":\"Mira\"}","meta":{"agent":"x.agent","run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"call_0_0","parent_tool_call_id":"","labels":{},"requested_by":""},"question":"Who is Mira?","preview":"","answer_schema":{"type":"string"},"created_at":1795455429.886431,"expires_at":11795455429.88643,"idempotency_key":"question:call_0_0","seal":{"key":"4e36d188","mac":"5P_kINH7JzU2XJ_9hCOxVdIz18MLA92RoybYzIIE2UI"}}}' AS BLOB),'','');
INSERT INTO "op" VALUES(7340033,'plan:0','plan',X'360A74E7353A64E0DE4448DAF67C79AE3B2696528B1D0F6CD272A2E74CFDEF73',1.79545542989997744566e+09,CAST('{"kind":"calls","text":"","calls":[{"id":"call_0_0","name":"pay","arguments":"{\"name\":\"slow\"}","tool":"x.tools.pay","tags":[],"is_bookkeeping":false,"is_sequential":false,"starts_run":false,"start":{"format":1,"seq":0,"time":0.0,"run_id":"","session_id":"","turn_id":"","tool_call_id":"","agent_id":"","type":"tool_start","tool":"x.tools.pay","name":"pay","arguments":{"name":"slow"},"text":"","parent_tool_call_id":"","runs_once":true}}],"usage":[]}' AS BLOB),'','');
INSERT INTO "op" VALUES(9437185,'plan:0','plan',X'D8CF9068566AA42D05DB746EDDA64D68E1C012E766AD19EF98A5ED7A797809DD',1.79545542990956735612e+09,CAST('{"kind":"calls","text":"","calls":[{"id":"call_0_0","name":"look_up","arguments":"{\"name\":\"slow\"}","tool":"x.tools.look_up","tags":[],"is_bookkeeping":false,"is_sequential":false,"starts_run":false,"start":{"format":1,"seq":0,"time":0.0,"run_id":"","session_id":"","turn_id":"","tool_call_id":"","agent_id":"","type":"tool_start","tool":"x.tools.look_up","name":"look_up","arguments":{"name":"slow"},"text":"","parent_tool_call_id":"","runs_once":false}}],"usage":[]}' AS BLOB),'','');
CREATE TABLE run (
            no INTEGER PRIMARY KEY, run_id TEXT NOT NULL UNIQUE, loop TEXT NOT NULL, parent INTEGER,
            starter INTEGER, session TEXT NOT NULL, input BLOB NOT NULL, state TEXT NOT NULL, began REAL,
            ended REAL, wake REAL, output BLOB, error TEXT) STRICT;
INSERT INTO "run" VALUES(1,'done','agent',NULL,NULL,'s-done',CAST('{"facts":{"version":6,"agent":"x.agent","session_id":"s-done","turn_id":"turn_3edaf8749fa05d4eaa9a4f0b34f64575","labels":{},"policy":{"max_tool_calls":null,"max_consecutive_failed_tool_calls":null,"time_budget":null,"plan_timeout":null,"tool_timeout":null,"interrupts_allowed":false,"on_missing_fields":"resume","history":null},"allowed_tags":[],"denied_tags":[],"restrict_to_tool":"","parent":null,"depth":0,"in_conversation":true},"message":"look_up lamp","source":"person"}' AS BLOB),'completed',1.79545542981981325145e+09,1.79545542985218095784e+09,NULL,CAST('{"agent":"x.agent","text":"\"lamp is found\"","result":null,"stop":"final","failure":null,"usage":[],"tool_calls":1,"children":0,"artifacts":[],"pending":[],"waited_s":0,"duration_s":0.03189206123352051}' AS BLOB),'');
INSERT INTO "run" VALUES(3,'approval','agent',NULL,NULL,'s-approval',CAST('{"facts":{"version":6,"agent":"x.agent","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","labels":{},"policy":{"max_tool_calls":null,"max_consecutive_failed_tool_calls":null,"time_budget":null,"plan_timeout":null,"tool_timeout":null,"interrupts_allowed":false,"on_missing_fields":"resume","history":null},"allowed_tags":[],"denied_tags":[],"restrict_to_tool":"","parent":null,"depth":0,"in_conversation":true},"message":"wipe disk","source":"person"}' AS BLOB),'parked',1.79545542986188793178e+09,NULL,1.17954554298685684204e+10,NULL,NULL);
INSERT INTO "run" VALUES(5,'question','agent',NULL,NULL,'s-question',CAST('{"facts":{"version":6,"agent":"x.agent","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","labels":{},"policy":{"max_tool_calls":null,"max_consecutive_failed_tool_calls":null,"time_budget":null,"plan_timeout":null,"tool_timeout":null,"interrupts_allowed":false,"on_missing_fields":"resume","history":null},"allowed_tags":[],"denied_tags":[],"restrict_to_tool":"","parent":null,"depth":0,"in_conversation":true},"message":"ask Mira","source":"person"}' AS BLOB),'parked',1.79545542987792563442e+09,NULL,1.17954554298870029451e+10,NULL,NULL);
INSERT INTO "run" VALUES(7,'cut','agent',NULL,NULL,'s-cut',CAST('{"facts":{"version":6,"agent":"x.agent","session_id":"s-cut","turn_id":"turn_47c6f177bca75a32ad5fc536eaa1cd84","labels":{},"policy":{"max_tool_calls":null,"max_consecutive_failed_tool_calls":null,"time_budget":null,"plan_timeout":null,"tool_timeout":null,"interrupts_allowed":false,"on_missing_fields":"resume","history":null},"allowed_tags":[],"denied_tags":[],"restrict_to_tool":"","parent":null,"depth":0,"in_conversation":true},"message":"pay slow","source":"person"}' AS BLOB),'running',1.79545542989875388144e+09,NULL,NULL,NULL,NULL);
INSERT INTO "run" VALUES(9,'again','agent',NULL,NULL,'s-again',CAST('{"facts":{"version":6,"agent":"x.agent","session_id":"s-again","turn_id":"turn_787634c8a2af5ceb85402d7dc6a26e19","labels":{},"policy":{"max_tool_calls":null,"max_consecutive_failed_tool_calls":null,"time_budget":null,"plan_timeout":null,"tool_timeout":null,"interrupts_allowed":false,"on_missing_fields":"resume","history":null},"allowed_tags":[],"denied_tags":[],"restrict_to_tool":"","parent":null,"depth":0,"in_conversation":true},"message":"look_up slow","source":"person"}' AS BLOB),'running',1.79545542990168642992e+09,NULL,NULL,NULL,NULL);
CREATE TABLE session (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        agent TEXT NOT NULL,
        created_at REAL NOT NULL,
        ended_at REAL,
        labels TEXT NOT NULL,
        summary TEXT,
        summary_through TEXT
    ) STRICT
    ;
INSERT INTO "session" VALUES(1,'s-done','x.agent',1.79545542981889581684e+09,NULL,'{}',NULL,NULL);
INSERT INTO "session" VALUES(2,'s-approval','x.agent',1.79545542986116051669e+09,NULL,'{}',NULL,NULL);
INSERT INTO "session" VALUES(3,'s-question','x.agent',1795455429.87719,NULL,'{}',NULL,NULL);
INSERT INTO "session" VALUES(4,'s-cut','x.agent',1.79545542988848972317e+09,NULL,'{}',NULL,NULL);
INSERT INTO "session" VALUES(5,'s-again','x.agent',1.79545542990123128891e+09,NULL,'{}',NULL,NULL);
CREATE TABLE signal (
            no INTEGER PRIMARY KEY, run INTEGER NOT NULL, signal_id TEXT NOT NULL, name TEXT NOT NULL,
            payload BLOB NOT NULL, key TEXT NOT NULL, is_seen INTEGER NOT NULL, is_taken INTEGER NOT NULL,
            UNIQUE (run, signal_id)) STRICT;
CREATE TABLE spoken (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL,
        id TEXT NOT NULL,
        written_at REAL NOT NULL,
        messages TEXT NOT NULL,
        UNIQUE (run_id, id)
    ) STRICT
    ;
CREATE TABLE turn (
        number INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        turn_id TEXT NOT NULL,
        session_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        started_at REAL NOT NULL
    ) STRICT
    ;
INSERT INTO "turn" VALUES(1,'done','turn_3edaf8749fa05d4eaa9a4f0b34f64575','s-done','x.agent',1.79545542981911611553e+09);
INSERT INTO "turn" VALUES(2,'approval','turn_1693519db4f75c8a8cde5db5cc31165a','s-approval','x.agent',1.79545542986135458944e+09);
INSERT INTO "turn" VALUES(3,'question','turn_ceec5df41f255307b11941d30d30f56a','s-question','x.agent',1.79545542987746286397e+09);
INSERT INTO "turn" VALUES(4,'cut','turn_47c6f177bca75a32ad5fc536eaa1cd84','s-cut','x.agent',1.79545542988866424559e+09);
INSERT INTO "turn" VALUES(5,'again','turn_787634c8a2af5ceb85402d7dc6a26e19','s-again','x.agent',1.79545542990133094791e+09);
CREATE TABLE wait (
            id INTEGER PRIMARY KEY, op TEXT NOT NULL, names TEXT NOT NULL, about BLOB NOT NULL) STRICT;
INSERT INTO "wait" VALUES(3145729,'wait:call_0_0:1','["answer:wait:call_0_0:1"]',CAST('{"frozen":{"id":"d30ae0cda4c143cf","kind":"confirmation","tool":"x.tools.wipe","spec_digest":"67dd36f3cdac2147f669167ddaef8fe0c2c812e20e39ee5c747d3ee3de32b3d1","payload_json":"{\"name\":\"disk\"}","meta":{"agent":"x.agent","run_id":"approval","session_id":"s-approval","turn_id":"turn_1693519db4f75c8a8cde5db5cc31165a","tool_call_id":"call_0_0","parent_tool_call_id":"","labels":{},"requested_by":""},"question":"Wipe disk?","preview":"","answer_schema":{"type":"object","properties":{"approved":{"type":"boolean"},"message":{"type":"string"}},"required":["approved"],"additionalProperties":false},"created_at":1795455429.8646743,"expires_at":11795455429.864674,"idempotency_key":"approval:call_0_0","seal":{"key":"4e36d188","mac":"La3nKmJ7-zpvE6Pbq_48SbZIp5PZvAtCfjmzcF8Byxk"}}}' AS BLOB));
INSERT INTO "wait" VALUES(5242881,'wait:call_0_0:1','["answer:wait:call_0_0:1"]',CAST('{"frozen":{"id":"023e94ec7b8fb25e","kind":"input","tool":"x.tools.ask","spec_digest":"b930e7af586baa9ed4487792939d5b2c6f1ef333f7a16fdca1f280c1d13656ed","payload_json":"{\"name\":\"Mira\"}","meta":{"agent":"x.agent","run_id":"question","session_id":"s-question","turn_id":"turn_ceec5df41f255307b11941d30d30f56a","tool_call_id":"call_0_0","parent_tool_call_id":"","labels":{},"requested_by":""},"question":"Who is Mira?","preview":"","answer_schema":{"type":"string"},"created_at":1795455429.886431,"expires_at":11795455429.88643,"idempotency_key":"question:call_0_0","seal":{"key":"4e36d188","mac":"5P_kINH7JzU2XJ_9hCOxVdIz18MLA92RoybYzIIE2UI"}}}' AS BLOB));
CREATE INDEX run_state ON run (state);
CREATE INDEX run_wake ON run (wake) WHERE wake IS NOT NULL;
CREATE INDEX run_session ON run (session, no) WHERE session != '';
CREATE INDEX run_ended ON run (ended) WHERE ended IS NOT NULL AND parent IS NULL;
CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL;
CREATE INDEX run_starter ON run (starter) WHERE starter IS NOT NULL;
CREATE INDEX signal_unseen ON signal (no) WHERE is_seen = 0;
CREATE INDEX session_by_age ON session (created_at, number);
CREATE INDEX turn_of_session ON turn (session_id, number);
COMMIT;
