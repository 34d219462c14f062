#!/usr/bin/env python3
"""A Kilroy pipeline with slash commands, run against a real Loci.

What a Kilroy platform does between its blocks is simulated here: agents publish messages, and each
hears those whose sender its `agent_from` names. What the memory blocks do is not: every one of them
is an HTTP call to Loci, exactly as the platform makes it.

    LOCI_BASE_URL=http://127.0.0.1:8700 LOCI_API_KEY=... ./pipeline.py < conversation.txt
    LOCI_BASE_URL=http://127.0.0.1:8700 LOCI_API_KEY=... ./pipeline.py '/write the key is under the mat' /read

Needs Python 3.9 and nothing else.
"""

import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path


def hears(agent_from, sender):
    """Whether an agent with this filter hears a sender: anybody, one name, or all but one."""
    if agent_from in ("", "*"):
        return True
    if agent_from.startswith("!"):
        return sender != agent_from[1:]
    return sender == agent_from


class Pipeline:
    def __init__(self, described, base_url, api_token):
        self.uid = described["pipeline_uid"]
        self.agents = described["agents"]
        self.base_url = base_url.rstrip("/")
        self.api_token = api_token

    def say(self, text):
        """Somebody types a line. Gives what appears in the chat after it."""
        shown = []
        # What is published is heard in the order in which it was.
        queue = [("chat", text)]
        while queue:
            sender, text = queue.pop(0)
            for agent in self.agents:
                name = agent["wf_agent_name"]
                if name != sender and hears(agent["agent_from"], sender):
                    queue.extend((name, said) for said in self.hear(agent, sender, text, shown))
        return shown

    def hear(self, agent, sender, text, shown):
        """What an agent publishes when it hears a message."""
        kind = agent["type"]
        if kind == "chat_agent":
            # The chat shows answers; relays are how they came to be.
            if not sender.startswith("dispatch_") and sender != "plain_text":
                shown.append((sender, text))
            return []
        if kind == "regex_filter":
            matches = re.search(agent["pattern"], text) is not None
            return [text] if matches != agent.get("invert", False) else []
        if kind == "regex_match":
            match = re.search(agent["pattern"], text)
            return [match.group(1)] if match else []
        if kind == "ai_agent":
            return [f"(a model would answer this: {text})"]
        if kind == "webhook_agent" and agent["wf_call_webhook"]:
            result, published = self.call(agent, sender, text)
            return [result] if published else []
        return []

    def call(self, agent, sender, text):
        """One memory block, as the platform calls it."""
        body = {
            "tagentname": agent["wf_agent_name"],
            "tusername": "you",
            "tid": str(uuid.uuid4()),
            "tpublish": agent["wf_publish_results"],
            "targs": agent["wf_webhook_args"],
            "args": [{"text": text, "type": "text/plain", "timestamp": int(time.time() * 1000)}],
            "from": sender,
            "pipeline_uid": self.uid,
        }
        token = urllib.parse.quote(self.api_token, safe="")
        hook = f"{agent['wf_diagram_alias']}/{agent['wf_diagram_webhook']}"
        request = urllib.request.Request(
            f"{self.base_url}/api/v1/pd/webhook_sync/{token}/{hook}",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as error:
            # Only what never reached a block has a status; the body says why.
            said = json.loads(error.read())["args"]["error"]
            raise SystemExit(f"{hook}: {error.code}: {said}") from None
        message = answer["args"]["x"]
        assert message["id"] == body["tid"], "an answer to another call"
        return message["args"][0]["text"], answer["args"]["tpublish"]


def main():
    described = json.loads(Path(__file__).with_name("pipeline.json").read_text())
    described["pipeline_uid"] = os.environ.get("PIPELINE_UID", described["pipeline_uid"])
    base_url = os.environ.get("LOCI_BASE_URL", "http://127.0.0.1:8700")
    try:
        pipeline = Pipeline(described, base_url, os.environ["LOCI_API_KEY"])
    except KeyError:
        raise SystemExit("LOCI_API_KEY is not set") from None
    lines = sys.argv[1:] or (line.rstrip("\n") for line in sys.stdin)
    for line in lines:
        if not line:
            continue
        print(f"you> {line}")
        for sender, text in pipeline.say(line):
            for shown in text.rstrip("\n").split("\n"):
                print(f"{sender}> {shown}")


if __name__ == "__main__":
    main()
