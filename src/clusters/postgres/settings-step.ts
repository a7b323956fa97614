// The step that brings the settings in etcd to those of dynamic.json, through Patroni's REST API. Python's own library
// is enough for it, and Python is there wherever Patroni is.
//
// A new cluster has short loops so that it is complete soon; the step waits for that before it sets the wanted ones. And
// it ends only when members have taken up what it changed: from then on they say whether a restart is needed for it.

export const SETTINGS_STEP = `"""Brings the settings that the members of a Patroni cluster share to what a file says.

Usage: apply-settings.py PATRONI_YML SETTINGS
Nothing is done when they are as wanted. PostgreSQL's parameters that the file does not have are removed; other settings
that it does not have stay.
"""
import base64
import json
import ssl
import sys
import time
import urllib.request

LOOK_SECONDS = 0.3
# For the members to become complete; one that cannot must not keep the settings from the others.
SETTLE_SECONDS = 60
TAKE_UP_SECONDS = 20
# Patroni reloads PostgreSQL and looks a second later which parameters wait for a restart.
RELOAD_SECONDS = 2


class Api:
    def __init__(self, config):
        restapi, ctl = config['restapi'], config['ctl']
        self.url = 'https://' + restapi['connect_address']
        self.context = ssl.create_default_context(cafile=ctl['cacert'])
        self.context.load_cert_chain(ctl['certfile'], ctl['keyfile'])
        login = '{username}:{password}'.format(**restapi['authentication'])
        self.authorization = 'Basic ' + base64.b64encode(login.encode()).decode()

    def call(self, method, path, body=None, url=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {'Authorization': self.authorization}
        request = urllib.request.Request((url or self.url) + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=10, context=self.context) as response:
            return json.load(response)


def is_complete(members, settings):
    roles = [member['role'] for member in members]
    standbys = settings['synchronous_node_count'] if settings['synchronous_mode'] else 0
    return (
        'leader' in roles
        and all(member['state'] in ('running', 'streaming') for member in members)
        and sum(role in ('sync_standby', 'quorum_standby') for role in roles) >= min(standbys, len(members) - 1)
    )


def settle(api, settings):
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        problem = 'the cluster has no leader yet'
        try:
            members = api.call('GET', '/cluster')['members']
            if is_complete(members, settings):
                return
            if any(member['role'] == 'leader' for member in members):
                problem = None
        except (OSError, ValueError) as error:
            problem = str(error)
        if time.monotonic() > deadline:
            if problem:
                sys.exit('Cannot apply the settings of the cluster: ' + problem)
            return
        time.sleep(LOOK_SECONDS)


def difference(current, wanted, removes=False):
    patch = {key: None for key in current if removes and key not in wanted}
    for key, value in wanted.items():
        if isinstance(value, dict):
            nested = difference(current.get(key) or {}, value, key == 'parameters')
            if nested:
                patch[key] = nested
        elif current.get(key) != value:
            patch[key] = value
    return patch


def wait_for_reload(api, config):
    deadline = time.monotonic() + TAKE_UP_SECONDS
    for member in api.call('GET', '/cluster')['members']:
        url = member['api_url'].removesuffix('/patroni')
        while time.monotonic() < deadline:
            try:
                if api.call('GET', '/config', url=url) == config:
                    break
            except (OSError, ValueError):
                break
            time.sleep(LOOK_SECONDS)
    time.sleep(RELOAD_SECONDS)


def main(patroni_file, settings_file):
    # Written as JSON, which is YAML.
    with open(patroni_file) as file:
        api = Api(json.load(file))
    with open(settings_file) as file:
        settings = json.load(file)
    settle(api, settings)
    patch = difference(api.call('GET', '/config'), settings)
    if not patch:
        return print('Settings of the cluster are as wanted')
    config = api.call('PATCH', '/config', patch)
    if 'postgresql' in patch:
        wait_for_reload(api, config)
    print('Settings of the cluster changed: ' + json.dumps(patch))


try:
    main(*sys.argv[1:])
except (OSError, ValueError) as error:
    sys.exit('Cannot apply the settings of the cluster: {}'.format(error))
`
