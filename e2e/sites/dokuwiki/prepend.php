<?php
// Before each request: where this wiki keeps its configuration.
define('DOKU_CONF', getenv('DOKUWIKI_FOLDER') . '/conf/');
